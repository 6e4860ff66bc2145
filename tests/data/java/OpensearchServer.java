import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** Runs a node of OpenSearch until its input ends: without the checks of its start script, which refuses root. */
public final class OpensearchServer {
  private static final class OneNode extends Node {
    OneNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
      super(environment, plugins, false);
    }
  }

  public static void main(String[] args) throws Exception {
    Path home = Path.of(args[0]);
    Settings settings =
        Settings.builder()
            .put("path.home", home.toString())
            .put("cluster.name", "tests")
            .put("node.name", "one")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", args[1])
            .put("transport.port", args[2])
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .put("cluster.routing.allocation.disk.threshold_enabled", "false")
            .build();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> "one");
    try (Node node = new OneNode(environment, List.of(Netty4Plugin.class))) {
      node.start();
      while (System.in.read() != -1) {
        continue;
      }
    }
    System.exit(0);
  }
}
