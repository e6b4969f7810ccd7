import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Admission, AdmissionRequest, Mutation } from '../server/admission.ts'
import type { ServerParts } from '../server/context.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'
import { forbidden } from '../http/api-errors.ts'
import { createQuotaCharger, NO_QUOTAS } from './charge-quota.ts'
import type { QuotaCharger } from './charge-quota.ts'
import { claimProblems, applyLimitDefaults, podProblems, problemsText } from './limit-range.ts'
import { startQuotaStatusController } from './quota-status-controller.ts'

/** ResourceQuotas and LimitRanges that work; where their kinds are not served there are none. */
export interface Quotas extends RunningFollower {
  readonly gate: QuotaCharger
  /** Gives containers their default limits. */
  readonly mutation: Mutation
  /** Refuses what is not within the limits of its namespace. */
  readonly admission: Admission
}

const NONE = Promise.resolve()

type QuotaParts = Pick<ServerParts, 'store' | 'clock' | 'log' | 'registry'>

/** Starts them; they end with the signal. */
export function startQuotas(parts: QuotaParts, signal: AbortSignal): Quotas {
  const quotas = parts.registry.find('', 'v1', 'resourcequotas')
  const ranges = parts.registry.find('', 'v1', 'limitranges')
  const keeper = quotas && startQuotaStatusController(parts, quotas, signal)
  return {
    gate: keeper ? createQuotaCharger(parts, quotas, keeper) : NO_QUOTAS,
    ready: keeper?.ready ?? NONE,
    done: keeper?.done ?? NONE,
    async mutation(request) {
      const { object } = request
      if (!object || !isLimited(request, 'pods')) return []
      for (const range of await rangesFor(parts, ranges, object)) applyLimitDefaults(object, range)
      return []
    },
    async admission(request) {
      const { object, oldObject, kind } = request
      const isPod = isLimited(request, 'pods')
      if (!object || !(isPod || isLimited(request, 'persistentvolumeclaims'))) return []
      if (oldObject?.metadata.deletionTimestamp !== undefined) return []
      for (const range of await rangesFor(parts, ranges, object)) {
        const problems = isPod ? podProblems(object, range) : claimProblems(object, range)
        if (problems.length > 0) throw forbidden(kind, object.metadata.name, problemsText(problems))
      }
      return []
    },
  }
}

/** What a pod requests can only change by a resize. */
function isLimited({ kind, operation, subresource }: AdmissionRequest, plural: string): boolean {
  if (kind.group !== '' || kind.plural !== plural || operation === 'DELETE') return false
  if (plural === 'pods' && operation === 'UPDATE') return subresource === 'resize'
  return subresource === undefined
}

async function rangesFor(
  { store }: Pick<ServerParts, 'store'>,
  kind: Kind | undefined,
  { metadata }: UnknownObject,
): Promise<UnknownObject[]> {
  if (!kind || !metadata.namespace) return []
  const { entries } = await store.list({ prefix: storePrefix(kind, metadata.namespace) })
  return entries.map(({ value }) => parseStored(value))
}
