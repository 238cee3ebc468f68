"""Java for programs that are over before more than its first compiler would pay."""

JAVA_OF_SHORT_RUNS = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:-MethodFlushing -XX:MetaspaceSize=256m"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""One compiler, whose code has the room that it has beside the other one, and stays; no collection just because classes come in; no
checks of classes that are released and known."""
