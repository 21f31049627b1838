"""What a failure below HTTP means: no connection, no answer, a certificate or a proxy in the way.

Pure. The words name what was asked (the base URL without query and password, the proxy without its password) and the setting to
look at.
"""

import re

import httpx2

from trimtab.providers.loopback import is_loopback
from trimtab.providers.wire import Endpoint
from trimtab.types.errors import ErrorInfo

UNSENDABLE = ErrorInfo(
    "invalid", "a header or the API key holds a character that HTTP can't carry", "Check the key and `headers`."
)
"""A request that can't be written down."""
_USERINFO = re.compile(r"//[^/]*@")
_PROXY_HINT = "Check the proxy (HTTPS_PROXY, HTTP_PROXY; NO_PROXY names hosts that need none); a name and password go into its URL."


def transport_error(exc: Exception, endpoint: Endpoint) -> ErrorInfo:
    """Return what `exc`, raised by the HTTP client, means to whoever configured `endpoint`."""
    where = _USERINFO.sub("//", endpoint.base_url.partition("?")[0])
    reason = str(exc) or type(exc).__name__
    proxy = _proxy_name(endpoint)
    way = f" through the proxy {proxy}" if proxy else ""
    match exc:
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
            return ErrorInfo("invalid", f"{where!r} is not a URL that can be asked: {reason}", "Check `base_url`.")
        case httpx2.LocalProtocolError() | UnicodeError():
            return UNSENDABLE
        case httpx2.ConnectTimeout():
            return ErrorInfo(
                "network",
                f"{where} didn't answer within {endpoint.connect_timeout_s:g} s{way}",
                "Is `base_url` right (http or https, the port), and does the network work?",
                retryable=True,
            )
        case httpx2.ReadTimeout():
            return ErrorInfo(
                "network",
                f"{where} sent nothing for {endpoint.idle_timeout_s:g} s",
                "A slow local model may need a longer `idle_timeout_s`.",
                retryable=True,
            )
        case httpx2.ProxyError():
            return ErrorInfo("network", f"the proxy {proxy or 'in between'} refused: {reason}", _PROXY_HINT)
        case httpx2.ConnectError() if "CERTIFICATE" in reason.upper():
            return ErrorInfo(
                "network",
                f"the certificate of {where} isn't trusted: {reason}",
                "Is something between you and the provider? Name its certificate in `ca_file` or SSL_CERT_FILE.",
            )
        case httpx2.ConnectError():
            # A local server that isn't there won't come while one waits; a remote one may.
            return ErrorInfo(
                "network",
                f"can't connect to {where}{way}: {reason}",
                _PROXY_HINT if proxy else "Is the server running, and is `base_url` right (http or https, host, port)?",
                retryable=not is_loopback(endpoint.base_url),
            )
        case _:
            return ErrorInfo("network", f"the connection to {where} broke: {reason}", retryable=True)


def _proxy_name(endpoint: Endpoint) -> str:
    """Host and port of the proxy in use, without the name and password that its URL may hold."""
    if endpoint.proxy is None or is_loopback(endpoint.base_url):
        return ""
    return _USERINFO.sub("//", endpoint.proxy).rpartition("//")[2].partition("/")[0]
