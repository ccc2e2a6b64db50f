import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E10 no option of a socket leads a connection elsewhere than its address says or puts it off, and ordinary ones work",
  ["python3"],
  async ({ python, tier }) => {
    const end = await python(`
def tried(family, level, name, value):
  s = socket.socket(family)
  try: s.setsockopt(level, name, value); return "set"
  except OSError as error: return errno.errorcode[error.errno]
SOURCE_ROUTE = bytes([131, 7, 4, 192, 0, 2, 1, 0])
print(tried(socket.AF_INET, socket.IPPROTO_IP, 4, SOURCE_ROUTE),
  tried(socket.AF_INET6, socket.IPPROTO_IP, 4, SOURCE_ROUTE),
  tried(socket.AF_INET6, socket.IPPROTO_IPV6, 57, bytes(24)),
  tried(socket.AF_INET6, socket.IPPROTO_IPV6, 32, bytes(32)),
  tried(socket.AF_INET, socket.SOL_SOCKET, 25, b"lo"),
  tried(socket.AF_INET, socket.IPPROTO_TCP, 30, 1))
print(tried(socket.AF_INET, socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), tried(socket.AF_INET, socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
  tried(socket.AF_INET, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1), tried(socket.AF_INET6, socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0),
  tried(socket.AF_INET, socket.IPPROTO_IP, socket.IP_TOS, 16))
try: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); print("MPTCP")
except OSError as error: print(errno.errorcode[error.errno])`);
    const [odd, ordinary, multipath] = end.stdout.split("\n");
    expect(ordinary).toBe("set set set set set");
    if (tier === "namespaces") return;
    expect(odd).toBe("ENOPROTOOPT ENOPROTOOPT ENOPROTOOPT ENOPROTOOPT EPERM ENOPROTOOPT");
    expect(multipath).toBe("EPROTONOSUPPORT");
  },
);
