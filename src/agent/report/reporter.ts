/** Tells the hub how the cluster does: a whole report when something changed, a one-line check-in otherwise. */
import { backoffMs } from '../../core/time/backoff.ts'
import { utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { canonicalJson } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { createWakeup } from '../../core/async/wakeup.ts'
import type { Report } from '../../wire/link/frames.ts'
import type { HubApi } from '../link/hub-api.ts'

/** What the reporter needs. */
export interface ReporterPorts {
  readonly hub: () => HubApi | undefined
  readonly report: () => Report
  /** Somebody asked for the log, or (undefined) what was sent of it was not taken. */
  readonly askLog: (asked: string | undefined) => void
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

const RETRY = { baseMs: 1000, maxMs: 30_000, jitter: 0.5 }
// Bundles of one document tend to change together: one report for all of them.
const COALESCE_MS = 200
// Without a link there is nobody to tell; the link gives a notice when it is up.
const NO_LINK_MS = 3_600_000
const DEFAULT_CHECK_IN_SECONDS = 30

/** Makes the reporter; nothing happens before `run`. */
export function createReporter(ports: ReporterPorts) {
  const { clock, ids } = ports
  const log = ports.log.child({ part: 'reporter' })
  const notice = createWakeup(clock)
  let acknowledged: Digest | undefined
  let checkInSeconds = DEFAULT_CHECK_IN_SECONDS
  let failures = 0

  function written(): { readonly body: Uint8Array; readonly digest: Digest } {
    const body = utf8(canonicalJson(ports.report()))
    return { body, digest: digestOf(body) }
  }

  /** Returns how long to rest. */
  async function round(signal: AbortSignal): Promise<number> {
    const hub = ports.hub()
    if (!hub) return NO_LINK_MS
    let { body, digest } = written()
    const isSame = digest === acknowledged
    const answer = isSame ? await hub.checkIn({ report: digest }, signal) : undefined
    if (answer?.log !== undefined) {
      ports.askLog(answer.log)
      ;({ body, digest } = written())
    }
    if (answer?.report !== 'Known') {
      await hub.report(body, signal).catch((caught: unknown) => {
        // Whoever wants it asks again; a gateway of an older version would refuse it every time.
        if (answer?.log !== undefined) ports.askLog(undefined)
        throw caught
      })
      log.debug({ bytes: body.byteLength }, 'report sent')
    }
    acknowledged = digest
    failures = 0
    // Never later than asked for; a little earlier each time, so that a fleet does not speak in chorus.
    return checkInSeconds * 1000 * (1 - ids.fraction() / 4)
  }

  return {
    /** Something changed, or the link came up. */
    wake: notice.notify,
    /** Says what there is to say once more, as far as somebody hears it. */
    async last(signal: AbortSignal): Promise<void> {
      await round(signal).catch((caught: unknown) =>
        log.debug({ err: toError(caught) }, 'the last report was not taken'),
      )
    },
    checkInEvery(seconds: number): void {
      checkInSeconds = seconds
    },
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        let restMs: number
        try {
          restMs = await round(signal)
        } catch (caught) {
          restMs = backoffMs(failures, ids.fraction(), RETRY)
          failures += 1
          if (!signal.aborted) log.debug({ err: toError(caught), retryMs: restMs }, 'report was not taken')
        }
        await notice.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
        if (!signal.aborted) await clock.sleep(COALESCE_MS, signal).catch(() => {})
      }
    },
  }
}
