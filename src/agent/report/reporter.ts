// Tested by src/agent/create-agent.contract.test.ts
/** Reports to the hub: the whole report when it changed, a check-in with its digest otherwise. */
import { compact } from '../../core/compact.ts'
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
import { KEPT_HEADER, STATEMENT_HEADER } from '../../wire/link/report-statement.ts'
import type { ReportStatement } from '../../wire/link/report-statement.ts'
import type { Report } from '../../wire/link/frames.ts'
import type { HubApi } from '../link/hub-api.ts'
import type { UserRequests } from './user-requests.ts'
import { REPORT_TIMING } from '../timing.ts'

/** Ports of the reporter. */
export interface ReporterPorts {
  readonly hub: () => HubApi | undefined
  readonly report: () => Report
  /** Signs a statement about a report; undefined while the agent has no cluster id. */
  readonly sign: (about: Pick<ReportStatement, 'sequence' | 'report'>) => string | undefined
  /** What users asked for. */
  readonly requests: {
    answer(asked: UserRequests): void
    /** The hub did not accept a report with the answers. */
    forget(): void
  }
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

/** Creates the reporter; nothing is sent before `run`. */
export function createReporter(ports: ReporterPorts) {
  const { clock, ids } = ports
  const log = ports.log.child({ part: 'reporter' })
  const wakeup = createWakeup(clock)
  let acknowledged: Digest | undefined
  let checkInSeconds: number = REPORT_TIMING.checkInSeconds
  let failures = 0
  /** Number of the next report. A report that no hub acknowledged is sent again with its number. */
  let sequence = 1
  /** The newest statement; an equal report is sent with it again. */
  let signed: { readonly report: Digest; readonly statement: string | undefined } | undefined
  /** The report that a hub has kept in its journal. */
  let kept: Digest | undefined

  function encodeReport(): { readonly body: Uint8Array; readonly digest: Digest } {
    const body = utf8(canonicalJson(ports.report()))
    return { body, digest: digestOf(body) }
  }

  /** Sends a report with its statement. A hub that has kept the same statement need not keep it again. */
  async function send(hub: HubApi, body: Uint8Array, digest: Digest, signal: AbortSignal): Promise<void> {
    if (signed?.report !== digest) signed = { report: digest, statement: ports.sign({ sequence, report: digest }) }
    const { statement } = signed
    const { kept: isKept = false } = await hub.report(
      body,
      compact({
        [STATEMENT_HEADER]: statement,
        [KEPT_HEADER]: kept === digest ? 'true' : undefined,
      }),
      signal,
    )
    if (digest !== acknowledged) sequence += 1
    kept = isKept ? digest : undefined
  }

  /** Sends a report or a check-in; resolves to the time until the next pass. */
  async function pass(signal: AbortSignal): Promise<number> {
    const hub = ports.hub()
    if (!hub) return REPORT_TIMING.noLinkMs
    let { body, digest } = encodeReport()
    const isSame = digest === acknowledged
    const answer = isSame ? await hub.checkIn({ report: digest }, signal) : undefined
    if (answer?.kept === true) kept = digest
    const isAsked = answer !== undefined && (answer.log !== undefined || answer.values !== undefined)
    if (isAsked) {
      ports.requests.answer(answer)
      ;({ body, digest } = encodeReport())
    }
    if (answer?.report !== 'Known') {
      await send(hub, body, digest, signal).catch((caught: unknown) => {
        // The user can ask again. A gateway of an older version would refuse the answers in every report.
        if (isAsked) ports.requests.forget()
        throw caught
      })
      log.debug({ bytes: body.byteLength }, 'report sent')
    }
    acknowledged = digest
    failures = 0
    // Never later than the hub asked for, and earlier by a random share, so that a fleet does not report at once.
    return checkInSeconds * 1000 * (1 - ids.fraction() / 4)
  }

  return {
    /** The report may have changed, or the link opened. */
    wake: wakeup.notify,
    /** Sends the last report; a failure is ignored. */
    async last(signal: AbortSignal): Promise<void> {
      await pass(signal).catch((caught: unknown) =>
        log.debug({ err: toError(caught) }, 'the hub did not accept the last report'),
      )
    },
    checkInEvery(seconds: number): void {
      checkInSeconds = seconds
    },
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        let restMs: number
        try {
          restMs = await pass(signal)
        } catch (caught) {
          restMs = backoffMs(failures, ids.fraction(), REPORT_TIMING.retry)
          failures += 1
          if (!signal.aborted) log.debug({ err: toError(caught), retryMs: restMs }, 'report was not taken')
        }
        await wakeup.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
        if (!signal.aborted) await clock.sleep(REPORT_TIMING.coalesceMs, signal).catch(() => {})
      }
    },
  }
}
