import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.tools.Server;

/**
 * Runs H2 on a port until its input ends. Its second port takes the URL of a database, an empty line and a statement,
 * and answers with the rows: fields end with the character 31, rows with 30, and a null is the character 0.
 */
public final class H2Server {
  public static void main(String[] args) throws Exception {
    Server server = Server.createTcpServer("-tcpPort", args[0], "-ifNotExists", "-baseDir", args[2]).start();
    HttpServer client = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[1])), 0);
    client.createContext("/", exchange -> {
      String[] asked = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8).split("\n\n", 2);
      int status = 200;
      String answer;
      try (Connection connection = DriverManager.getConnection(asked[0]);
          Statement statement = connection.createStatement()) {
        answer = statement.execute(asked[1]) ? rows(statement.getResultSet()) : "";
      } catch (SQLException refused) {
        status = 400;
        answer = refused.getMessage();
      }
      byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    });
    client.start();
    while (System.in.read() != -1) {
      continue;
    }
    client.stop(0);
    server.stop();
    System.exit(0);
  }

  private static String rows(ResultSet result) throws SQLException {
    StringBuilder text = new StringBuilder();
    int width = result.getMetaData().getColumnCount();
    while (result.next()) {
      for (int n = 1; n <= width; n++) {
        String value = result.getString(n);
        text.append(value == null ? "\0" : value).append((char) 31);
      }
      text.append((char) 30);
    }
    return text.toString();
  }
}
