// Tested by src/hub/console/console.test.ts
/** The certificate of the console. Its files are read again every minute, so that a renewal needs no restart. */
import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'

export interface ConsoleCertificate {
  /** PEM, as it is now. */
  read(): Promise<{ readonly cert: string; readonly key: string }>
}

const LOOK_MS = 60_000

/** Gives the server each new certificate until the signal is aborted; never rejects. */
export async function keepCertificate(
  server: Server | TlsServer,
  certificate: ConsoleCertificate | undefined,
  { clock, log, signal }: { readonly clock: Pick<Clock, 'sleep'>; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  if (!certificate || !('setSecureContext' in server)) return
  let current: object = {}
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => {})
    if (signal.aborted) return
    try {
      const next = await certificate.read()
      if (jsonEqual(next, current)) continue
      server.setSecureContext(next)
      current = next
    } catch (caught) {
      log.warn({ error: toError(caught).message }, 'the certificate of the console was not read again')
    }
  }
}
