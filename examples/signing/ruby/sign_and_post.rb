# frozen_string_literal: true

# Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
#
#   WEBHOOK_SECRET=... ruby sign_and_post.rb https://.../api/v1/webhooks/partner < event.json

require 'net/http'
require 'openssl'
require 'timeout'

# How long to wait for the answer, in seconds: API Gateway gives up after 30.
TIMEOUT = 35

# The value of X-Webhook-Signature. The key is the secret in UTF-8, the body the very bytes that are sent.
def sign(secret, body)
  OpenSSL::HMAC.hexdigest('SHA256', secret, body)
end

def post(url, secret, body)
  uri = URI(url)
  # Without a host Net::HTTP would take this machine.
  raise ArgumentError, 'not an address of HTTP' unless uri.is_a?(URI::HTTP) && !uri.host.to_s.empty?

  headers = { 'Content-Type' => 'application/json', 'X-Webhook-Signature' => sign(secret, body) }
  # Time-outs of Net::HTTP itself are for each read.
  Timeout.timeout(TIMEOUT) do
    Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') do |http|
      http.post(uri.request_uri, body, headers)
    end
  end
end

secret = ENV.fetch('WEBHOOK_SECRET', '')
abort 'WEBHOOK_SECRET is not set' if secret.empty?
body = $stdin.binmode.read

if ARGV.empty?
  puts sign(secret, body)
else
  begin
    response = post(ARGV.first, secret, body)
  rescue StandardError => e
    abort "No answer: #{e.message}"
  end
  puts "#{response.code} #{response.body}"
  exit response.code == '200'
end
