import { ApiError } from '../../core/errors.ts'
import { jsonClone } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { readPath } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { CommitResult } from '../../store/store.ts'
import type { AdmissionRequest } from '../server/admission.ts'
import type { ServerParts } from '../server/context.ts'
import { storePrefix, parseStoreEntry, storeKey, serializeObject } from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { forbidden } from '../http/api-errors.ts'
import { addAmounts, writeAmounts } from './amounts.ts'
import type { Amounts } from './amounts.ts'
import { evaluateQuotas, statusOf } from './evaluate-quotas.ts'
import type { QuotaRequest } from './evaluate-quotas.ts'
import type { PendingCharge } from './pending-charges.ts'
import type { QuotaStatusController } from './quota-status-controller.ts'
import { measureUsage } from './usage.ts'

/** The last question before a write: whether the quotas of its namespace have room. */
export interface QuotaCharger {
  /** Charges a write to its quotas, or throws why it may not be; a dry run is only asked about. */
  charge(request: AdmissionRequest): Promise<Charge>
}

/** Makes a write that is charged to its quotas. */
export async function commitCharged(
  gate: QuotaCharger,
  request: AdmissionRequest,
  commit: () => Promise<CommitResult>,
): Promise<CommitResult> {
  const charge = await gate.charge(request)
  let revision: number | undefined
  try {
    const result = await commit()
    if (result.ok) revision = result.revision
    return result
  } finally {
    charge.end(revision)
  }
}

/** What a write was charged; it must be told how the write ended. */
export interface Charge {
  /** The revision of the write; undefined when it did not happen. */
  end(revision: number | undefined): void
}

const NOTHING: Charge = { end: () => {} }
const TRIES = 10

/** A gate where there are no quotas. */
export const NO_QUOTAS: QuotaCharger = { charge: async () => NOTHING }

/** Charges writes to the quotas of a kind. */
export function createQuotaCharger(
  parts: Pick<ServerParts, 'store' | 'clock'>,
  kind: Kind,
  keeper: Pick<QuotaStatusController, 'pending' | 'caughtUp'>,
): QuotaCharger {
  const { store, clock } = parts

  async function quotasOf(namespace: string): Promise<StoredObject[]> {
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace) })
    return entries.map(parseStoreEntry)
  }

  async function write({ object, revision }: StoredObject, more: Amounts): Promise<boolean> {
    const next = jsonClone(object)
    const { hard, used } = statusOf(object)
    next['status'] = { hard: writeAmounts(hard), used: writeAmounts(addAmounts(used, more)) }
    const audit = internalAuditLine({ clock }, 'system:apiserver', { kind, object: next, verb: 'update' })
    const key = storeKey(kind, object.metadata)
    return (await store.commit({ key, expect: revision, value: serializeObject(next), audit })).ok
  }

  /** Asks the quotas, and charges the quotas that count it; false when there is nothing to charge. */
  async function chargeAll(request: AdmissionRequest, asked: QuotaRequest, from: Charging): Promise<boolean> {
    const { charge } = from
    let { quotas } = from
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      const verdict = evaluateQuotas(
        quotas.map(({ object }) => object),
        asked,
      )
      if (verdict.refused) {
        // A quota that was made a moment ago is about to be counted.
        if (!verdict.isUnknown || attempt > 1) throw refusal(request, verdict.why)
        await keeper.caughtUp()
        quotas = await quotasOf(charge.namespace)
        continue
      }
      if (request.dryRun || verdict.charges.size === 0) return false
      const failed = new Set<string>()
      for (const stored of quotas) {
        const { name } = stored.object.metadata
        const more = verdict.charges.get(name)
        if (!more) continue
        charge.amounts.set(name, more)
        if (!(await write(stored, more))) failed.add(name)
      }
      if (failed.size === 0) return true
      // A quota that was charged has allowed the object.
      quotas = (await quotasOf(charge.namespace)).filter(({ object }) => failed.has(object.metadata.name))
    }
    throw new ApiError('InternalError', 'Internal error occurred: resource quota evaluation timed out')
  }

  return {
    async charge(request) {
      const { namespace } = (request.object ?? request.oldObject)?.metadata ?? {}
      if (!namespace || !request.object || !isCounted(request)) return NOTHING
      const quotas = await quotasOf(namespace)
      if (quotas.length === 0) return NOTHING
      const charge = keeper.pending.begin(namespace)
      try {
        const asked = questionOf(request, request.object, clock.now())
        if (await chargeAll(request, asked, { quotas, charge })) {
          return { end: (revision) => keeper.pending.end(charge, revision) }
        }
      } catch (caught) {
        keeper.pending.end(charge, undefined)
        throw caught
      }
      keeper.pending.end(charge, undefined)
      return NOTHING
    },
  }
}

interface Charging {
  readonly quotas: readonly StoredObject[]
  readonly charge: PendingCharge
}

/** Whether a write can change what is used. */
function isCounted({ kind, operation, subresource, object, oldObject }: AdmissionRequest): boolean {
  if (kind.scope !== 'Namespaced' || operation === 'DELETE') return false
  const isNew = operation === 'CREATE'
  if (kind.group !== '') return isNew && subresource === undefined
  switch (kind.plural) {
    case 'pods': {
      const ends = (pod: UnknownObject | undefined) => readPath(pod, 'spec.activeDeadlineSeconds') !== undefined
      return subresource === 'resize' || (subresource === undefined && (isNew || ends(object) !== ends(oldObject)))
    }
    case 'services':
      return subresource === undefined
    case 'persistentvolumeclaims':
      return subresource === undefined || subresource === 'status'
    default:
      return isNew && subresource === undefined
  }
}

function questionOf(request: AdmissionRequest, object: UnknownObject, now: number): QuotaRequest {
  const { kind, oldObject, subresource } = request
  return {
    object,
    now: measureUsage(kind, object, now),
    before: oldObject && measureUsage(kind, oldObject, now),
    isStatus: subresource === 'status',
  }
}

function refusal({ kind, object }: AdmissionRequest, why: string): ApiError {
  return forbidden(kind, object?.metadata.name ?? '', why)
}
