// SPDX-License-Identifier: MIT
// HttpsURLConnection, whose TLS is Java's own.
// Usage: TlsLoop HOST PORT N: N requests on one kept connection, the first failure ends it
import java.io.InputStream;
import java.net.URL;
import java.security.cert.X509Certificate;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

public class TlsLoop implements X509TrustManager {
    public void checkClientTrusted(X509Certificate[] chain, String kind) {}

    public void checkServerTrusted(X509Certificate[] chain, String kind) {}

    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }

    public static void main(String[] args) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new TlsLoop()}, null);
        HttpsURLConnection.setDefaultSSLSocketFactory(context.getSocketFactory());
        HttpsURLConnection.setDefaultHostnameVerifier((name, session) -> true);
        URL url = new URL("https://" + args[0] + ":" + args[1] + "/");
        for (int left = Integer.parseInt(args[2]); left > 0; left--) {
            try (InputStream page = url.openStream()) {
                page.transferTo(System.out);
            }
        }
        System.out.flush();
    }
}
