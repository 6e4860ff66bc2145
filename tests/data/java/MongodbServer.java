import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.net.InetSocketAddress;
import java.util.List;

/** Runs mongo-java-server on a port until its input ends. */
public final class MongodbServer {
  /** Pymongo speaks to servers of this version and newer ones; none of the commands of the tests is newer than 4.0. */
  private static final class Version implements MongoVersion {
    @Override
    public List<Integer> getVersionArray() {
      return List.of(5, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 13;
    }
  }

  public static void main(String[] args) throws Exception {
    MongoServer server = new MongoServer(new MemoryBackend().version(new Version()));
    server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    while (System.in.read() != -1) {
      continue;
    }
    server.shutdownNow();
  }
}
