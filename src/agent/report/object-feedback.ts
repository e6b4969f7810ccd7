/** The part of the report about single objects: bounded, and turned by entry where not everything fits. */
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import { deliveryKeyOf } from '../../kinds/native/delivery.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { ReportedFeedback } from '../../wire/link/frames.ts'
import type { BundleRun } from '../bundles/bundle-run.ts'
import { MISSING } from '../bundles/drift-correction.ts'
import { truncateMessage } from '../bundles/report-row.ts'
import type { ObjectFailure } from '../cluster/object-failure.ts'

/** Time after which the report begins with another entry, where not all entries fit. */
const TURN_MS = 5 * 60_000

/** What is known of an entry's objects; undefined for a Bundle with neither `conditions` nor `reports: Objects`. */
export function feedbackOf(run: BundleRun): ReportedFeedback | undefined {
  const { plan, entry } = run
  const { conditions = [], reports } = plan?.options ?? {}
  const isWanted = deliveryKeyOf(entry.bundle) !== undefined || conditions.length > 0 || reports === 'Objects'
  if (!isWanted || !plan || run.set !== entry.set) return undefined
  const redact = plan.rendered?.redact ?? ((text: string) => text)
  const objects = plan.objects.map((planned) => {
    const { apiVersion, kind, namespace, name, key } = planned
    const health = run.healths.get(key)
    const failure = failureText(run.applyFailures.get(key))
    const recorded = run.records.get(key)
    const isReadOnly = planned.options.method === 'ReadOnly'
    const isApplied = isReadOnly || (recorded?.uid !== undefined && recorded.digest === planned.digest)
    const judged = run.judged.get(key)?.judgement
    const message = failure ?? health?.message
    return {
      apiVersion,
      kind,
      name,
      ...compact({
        namespace,
        applied: failure === undefined ? isApplied || undefined : false,
        available: availability(health, failure !== undefined && recorded?.uid === undefined),
        message: message ? truncateMessage(redact(message)) : undefined,
        values: judged && judged.feedback.length > 0 ? [...judged.feedback] : undefined,
        missing: judged && judged.missing.length > 0 ? truncateMessage(judged.missing.join(', ')) : undefined,
        conditions: judged && judged.conditions.length > 0 ? [...judged.conditions] : undefined,
      }),
    }
  })
  return { bundle: entry.bundle, generation: entry.generation, objects: objects.slice(0, LIMITS.feedbackObjects) }
}

/** The words of the API server, without the name of the object before them. */
function failureText(failure: ObjectFailure | undefined): string | undefined {
  const { cause } = failure ?? {}
  return cause instanceof ApiError ? cause.message : failure?.message
}

function availability(
  health: BundleRun['healths'] extends Map<string, infer H> ? H | undefined : never,
  isLost: boolean,
) {
  if (isLost) return false
  if (health === undefined) return undefined
  return health.message !== MISSING.message
}

/** The entries that fit into a report, beginning with another in each turn. */
export function boundFeedback(all: readonly ReportedFeedback[], nowMs: number): ReportedFeedback[] {
  const sizes = all.map((one) => utf8(canonicalJson(one)).byteLength + 1)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= LIMITS.feedbackBytes) return [...all]
  const first = Math.floor(nowMs / TURN_MS) % all.length
  let room: number = LIMITS.feedbackBytes
  const kept = all.map(() => false)
  for (let nth = 0; nth < all.length; nth++) {
    const index = (first + nth) % all.length
    if (sizes[index]! > room) continue
    room -= sizes[index]!
    kept[index] = true
  }
  return all.filter((_, index) => kept[index])
}
