# The module requests.
import requests
answer("imported requests")
