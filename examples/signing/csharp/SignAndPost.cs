// Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
//
//   WEBHOOK_SECRET=... dotnet run https://.../api/v1/webhooks/partner < event.json

using System;
using System.IO;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

public static class SignAndPost
{
    /// <summary>A redirect may turn a POST into a GET, whose 200 would mean nothing.</summary>
    private static readonly HttpClient Client = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false })
    {
        // API Gateway gives up after 30 seconds.
        Timeout = TimeSpan.FromSeconds(35),
    };

    /// <summary>The value of X-Webhook-Signature.</summary>
    /// <param name="secret">Its UTF-8 bytes are the key.</param>
    /// <param name="body">The very bytes that are sent.</param>
    public static string Sign(string secret, byte[] body)
    {
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            return BitConverter.ToString(hmac.ComputeHash(body)).Replace("-", "").ToLowerInvariant();
        }
    }

    public static async Task<HttpResponseMessage> PostAsync(Uri address, string secret, byte[] body)
    {
        using (var request = new HttpRequestMessage(HttpMethod.Post, address))
        {
            request.Content = new ByteArrayContent(body);
            request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
            request.Headers.Add("X-Webhook-Signature", Sign(secret, body));
            return await Client.SendAsync(request);
        }
    }

    // Not async, which Mono's compiler does not take for an entry point.
    public static int Main(string[] arguments)
    {
        return RunAsync(arguments).GetAwaiter().GetResult();
    }

    private static async Task<int> RunAsync(string[] arguments)
    {
        var secret = Environment.GetEnvironmentVariable("WEBHOOK_SECRET");
        if (string.IsNullOrEmpty(secret))
        {
            Console.Error.WriteLine("WEBHOOK_SECRET is not set");
            return 1;
        }
        var input = new MemoryStream();
        Console.OpenStandardInput().CopyTo(input);
        var body = input.ToArray();

        if (arguments.Length == 0)
        {
            Console.WriteLine(Sign(secret, body));
            return 0;
        }
        try
        {
            var address = new Uri(arguments[0]);
            if (address.Scheme != Uri.UriSchemeHttp && address.Scheme != Uri.UriSchemeHttps)
            {
                throw new UriFormatException("not an address of HTTP");
            }
            using (var response = await PostAsync(address, secret, body))
            {
                Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");
                return (int)response.StatusCode == 200 ? 0 : 1;
            }
        }
        catch (Exception error) when (error is HttpRequestException || error is TaskCanceledException || error is UriFormatException)
        {
            Console.Error.WriteLine($"No answer: {error.GetBaseException().Message}");
            return 1;
        }
    }
}
