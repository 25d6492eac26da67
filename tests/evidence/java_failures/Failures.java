// Raises the failures of the Java platform that tasks meet and prints each with its stack trace, as platform.txt holds
// them. Made with OpenJDK 17.0.15 on Debian 12, in this folder:
//
//   java -Xmx64m -Xss512k -XX:MaxJavaStackTraceDepth=6 Failures.java > platform.txt
//
// Every server is on 127.0.0.1; the one name that is looked up is under .invalid, which never resolves.

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipFile;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

public class Failures {
    interface Failure {
        void happen() throws Throwable;
    }

    interface Conversation {
        void with(Socket client) throws IOException;
    }

    static final Map<String, Failure> FAILURES = new LinkedHashMap<>();

    static int serve(Conversation conversation) throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> {
            while (true) {
                try {
                    conversation.with(server.accept());
                } catch (IOException gone) {
                    // the client's side of it is what counts
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return server.getLocalPort();
    }

    static int answer(String head) throws IOException {
        return serve(client -> {
            client.getInputStream().read(new byte[1000]);
            client.getOutputStream().write((head + "\r\nContent-Length: 0\r\n\r\n").getBytes());
            client.close();
        });
    }

    static Socket connect(Conversation conversation) throws IOException {
        return new Socket("127.0.0.1", serve(conversation));
    }

    static int refusedPort() throws IOException {
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return closed.getLocalPort();
        }
    }

    static Path file(String suffix, int... bytes) throws IOException {
        Path path = Files.createTempFile("failure", suffix);
        path.toFile().deleteOnExit();
        byte[] content = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            content[i] = (byte) bytes[i];
        }
        return Files.write(path, content);
    }

    static void refused() throws IOException {
        new Socket("127.0.0.1", refusedPort()).close();
    }

    static HttpRequest.Builder request(int port) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"));
    }

    static int endless(int depth) {
        return endless(depth + 1) + 1;
    }

    static class Unset {
        static final int SETTING = Integer.parseInt(System.getProperty("no.such.setting"));
    }

    static void network() {
        FAILURES.put("a refused connection", Failures::refused);
        FAILURES.put("an unknown host", () -> new Socket("no-such-host.invalid", 80).close());
        FAILURES.put("a server that says nothing", () -> {
            Socket socket = connect(client -> { });
            socket.setSoTimeout(50);
            socket.getInputStream().read();
        });
        FAILURES.put("a reset connection", () -> {
            Socket socket = connect(client -> {
                client.setSoLinger(true, 0);
                client.close();
            });
            Thread.sleep(100);
            socket.getInputStream().read();
        });
        FAILURES.put("a broken pipe", () -> {
            OutputStream out = connect(Socket::close).getOutputStream();
            for (int i = 0; i < 50; i++) {
                out.write(new byte[100000]);
                Thread.sleep(10);
            }
        });
        FAILURES.put("a stream that ends early", () ->
            new DataInputStream(connect(Socket::close).getInputStream()).readInt());
        FAILURES.put("a socket that is closed", () -> {
            Socket socket = connect(client -> { });
            socket.close();
            socket.getInputStream().read();
        });
        FAILURES.put("a port in use", () ->
            new ServerSocket(serve(client -> { }), 1, InetAddress.getLoopbackAddress()));
        FAILURES.put("an unresolved address", () -> SocketChannel.open(InetSocketAddress.createUnresolved("host", 1)));
        FAILURES.put("TLS to a plain port", () -> {
            int port = serve(client -> {
                client.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes());
                client.close();
            });
            ((SSLSocket) SSLSocketFactory.getDefault().createSocket("127.0.0.1", port)).startHandshake();
        });
        FAILURES.put("TLS with who hangs up", () -> {
            int port = serve(client -> {
                client.getInputStream().read(new byte[10]);
                client.close();
            });
            ((SSLSocket) SSLSocketFactory.getDefault().createSocket("127.0.0.1", port)).startHandshake();
        });
        FAILURES.put("HTTP refused", () -> HttpClient.newHttpClient()
            .send(request(refusedPort()).build(), HttpResponse.BodyHandlers.ofString()));
        FAILURES.put("HTTP without an answer", () -> {
            HttpRequest patient = request(serve(client -> { })).timeout(Duration.ofMillis(100)).build();
            HttpClient.newHttpClient().send(patient, HttpResponse.BodyHandlers.ofString());
        });
        FAILURES.put("HTTP 503", () -> new URL("http://127.0.0.1:" + answer("HTTP/1.1 503 Busy") + "/a").openStream());
        FAILURES.put("HTTP 401", () -> new URL("http://127.0.0.1:" + answer("HTTP/1.1 401 Who") + "/a").openStream());
        FAILURES.put("HTTP 404", () -> new URL("http://127.0.0.1:" + answer("HTTP/1.1 404 No") + "/a").openStream());
        FAILURES.put("a URL of no protocol", () -> new URL("htp:/x"));
    }

    static void files() {
        FAILURES.put("a missing file", () -> new FileInputStream("/data/in/orders.csv").close());
        FAILURES.put("a missing file, nio", () -> Files.readString(Path.of("/data/in/orders.csv")));
        FAILURES.put("a directory", () -> new FileInputStream("/tmp").close());
        FAILURES.put("a file that exists", () -> Files.createDirectory(Path.of("/tmp")));
        FAILURES.put("a full directory", () -> Files.delete(Path.of("/etc/ssl")));
        FAILURES.put("a full disk", () -> {
            try (FileOutputStream out = new FileOutputStream("/dev/full")) {
                out.write(1);
            }
        });
        FAILURES.put("a bad disk", () -> Files.lines(Path.of("/proc/self/mem")).count());
        FAILURES.put("no UTF-8", () -> Files.readString(file(".txt", 0xff, 0xfe)));
        FAILURES.put("no zip", () -> new ZipFile(file(".zip", 1, 2).toFile()));
        FAILURES.put("no gzip", () -> new GZIPInputStream(new ByteArrayInputStream(new byte[20])).read());
        FAILURES.put("an empty gzip", () -> new GZIPInputStream(new ByteArrayInputStream(new byte[0])).read());
        FAILURES.put("no such program", () -> new ProcessBuilder("no-such-program").start());
    }

    static void code() {
        FAILURES.put("null", () -> new HashMap<String, String>().get("a").length());
        FAILURES.put("a wrong cast", () -> {
            Object text = "a";
            Integer number = (Integer) text;
        });
        FAILURES.put("no number", () -> Integer.parseInt("twelve"));
        FAILURES.put("no date", () -> LocalDate.parse("2026-13-01"));
        FAILURES.put("an index", () -> new ArrayList<>().get(3));
        FAILURES.put("a division", () -> System.out.println(1 / Integer.parseInt("0")));
        FAILURES.put("nothing there", () -> Optional.empty().orElseThrow());
        FAILURES.put("a wrong argument", () -> new InetSocketAddress("a", 99999));
        FAILURES.put("no character set", () -> Charset.forName("no such"));
        FAILURES.put("a changed list", () -> {
            List<Integer> list = new ArrayList<>(List.of(1, 2, 3));
            for (Integer item : list) {
                list.remove(item);
            }
        });
        FAILURES.put("not supported", () -> List.of(1).add(2));
        FAILURES.put("a missing class", () -> Class.forName("org.postgresql.Driver"));
        FAILURES.put("a missing driver", () -> DriverManager.getConnection("jdbc:postgresql://127.0.0.1/db"));
        FAILURES.put("a missing method", () -> String.class.getMethod("nope"));
        FAILURES.put("a missing library", () -> System.loadLibrary("nope"));
        FAILURES.put("a class that cannot start", () -> System.out.println(Unset.SETTING));
        FAILURES.put("a class that could not start", () -> System.out.println(Unset.SETTING));
        FAILURES.put("a full heap", () -> {
            byte[][] heap = new byte[1000][];
            for (int i = 0; i < 1000; i++) {
                heap[i] = new byte[10_000_000];
            }
        });
        FAILURES.put("a full stack", () -> endless(0));
        FAILURES.put("an assertion", () -> {
            throw new AssertionError("expected 1");
        });
    }

    static void wrapped() {
        FAILURES.put("a future that takes too long", () ->
            new CompletableFuture<String>().get(10, TimeUnit.MILLISECONDS));
        FAILURES.put("a pool that was shut down", () -> {
            ExecutorService pool = Executors.newSingleThreadExecutor();
            pool.shutdown();
            pool.submit(() -> 1);
        });
        FAILURES.put("interrupted", () -> {
            Thread.currentThread().interrupt();
            Thread.sleep(10);
        });
        FAILURES.put("refused in a future", () -> CompletableFuture.supplyAsync(() -> {
            try {
                refused();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
            return 1;
        }).get());
        FAILURES.put("a timeout in a future", () -> CompletableFuture.supplyAsync(() -> {
            throw new UncheckedIOException(new SocketTimeoutException("Read timed out"));
        }).join());
        FAILURES.put("refused under two others", () -> {
            try {
                try {
                    refused();
                } catch (IOException error) {
                    throw new SQLException("Cannot open a connection.", "08001", error);
                }
            } catch (SQLException error) {
                throw new IllegalArgumentException("Cannot load orders", error);
            }
        });
        FAILURES.put("missing, by reflection", () -> Failures.class.getDeclaredMethod("readOrders").invoke(null));
        FAILURES.put("suppressed ones", () -> {
            Exception error = new IOException("flush failed");
            error.addSuppressed(new IllegalStateException("already closed"));
            throw new RuntimeException("close failed", error);
        });
        FAILURES.put("many lines", () -> {
            throw new IllegalStateException("first line\nsecond line: more\n\nfourth line");
        });
    }

    static void readOrders() throws IOException {
        Files.readString(Path.of("/data/in/orders.csv"));
    }

    public static void main(String[] arguments) {
        network();
        files();
        code();
        wrapped();
        for (Map.Entry<String, Failure> failure : FAILURES.entrySet()) {
            System.out.println("=== " + failure.getKey());
            try {
                failure.getValue().happen();
                System.out.println("nothing happened");
            } catch (Throwable thrown) {
                thrown.printStackTrace(System.out);
            }
        }
        System.exit(0);
    }
}
