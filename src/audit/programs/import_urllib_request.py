# The module urllib.request.
import urllib.request
answer("imported urllib.request")
