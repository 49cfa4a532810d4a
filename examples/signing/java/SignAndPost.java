import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
 *
 * <pre>WEBHOOK_SECRET=... java SignAndPost.java https://.../api/v1/webhooks/partner &lt; event.json</pre>
 */
public final class SignAndPost {

    /** In seconds: API Gateway gives up after 30. */
    private static final long TIMEOUT = 35;

    /**
     * The value of X-Webhook-Signature.
     *
     * @param secret its UTF-8 bytes are the key
     * @param body the very bytes that are sent
     */
    static String sign(String secret, byte[] body) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(UTF_8), mac.getAlgorithm()));
        return HexFormat.of().formatHex(mac.doFinal(body));
    }

    static HttpResponse<String> post(URI address, String secret, byte[] body)
            throws GeneralSecurityException, ExecutionException, InterruptedException, TimeoutException {
        HttpRequest request = HttpRequest.newBuilder(address)
                .header("Content-Type", "application/json")
                .header("X-Webhook-Signature", sign(secret, body))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        // The request's own time-out would end with the headers, and wait for a body without end.
        return HttpClient.newHttpClient().sendAsync(request, BodyHandlers.ofString()).get(TIMEOUT, TimeUnit.SECONDS);
    }

    public static void main(String[] arguments) throws Exception {
        String secret = System.getenv("WEBHOOK_SECRET");
        if (secret == null || secret.isEmpty()) fail("WEBHOOK_SECRET is not set");
        // Java reads the environment in the locale's charset, and what that cannot read becomes U+FFFD.
        if (secret.contains("\uFFFD")) fail("WEBHOOK_SECRET needs a UTF-8 locale, such as LC_ALL=C.UTF-8");
        byte[] body = System.in.readAllBytes();

        if (arguments.length == 0) {
            System.out.println(sign(secret, body));
            return;
        }
        try {
            HttpResponse<String> response = post(URI.create(arguments[0]), secret, body);
            System.out.println(response.statusCode() + " " + response.body());
            System.exit(response.statusCode() == 200 ? 0 : 1);
        } catch (ExecutionException error) {
            fail("No answer: " + error.getCause());
        } catch (TimeoutException | IllegalArgumentException error) {
            fail("No answer: " + error);
        }
    }

    private static void fail(String message) {
        System.err.println(message);
        System.exit(1);
    }
}
