# The module http.client.
import http.client
answer("imported http.client")
