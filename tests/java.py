"""Java for programs that are over before more than its first compiler would pay."""

JAVA_OF_SHORT_RUNS = "-XX:TieredStopAtLevel=1 -XX:MetaspaceSize=256m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""One compiler, no collection just because classes come in, and no checks of classes that are released and known."""
