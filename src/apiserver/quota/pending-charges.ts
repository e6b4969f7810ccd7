import type { Amounts } from './amounts.ts'

/** Charges of writes that are under way: what is counted in the store does not have them yet. */

/** A write's charges. */
export interface PendingCharge {
  readonly namespace: string
  /** By the name of the quota. */
  readonly amounts: Map<string, Amounts>
  /** The revision of the write, once it is known. */
  revision: number | undefined
}

/** The charges that are under way. */
export interface PendingCharges {
  begin(namespace: string): PendingCharge
  /** Ends a charge: its write has this revision, or did not happen. */
  end(charge: PendingCharge, revision: number | undefined): void
  /** What is charged to a quota beyond what can be seen at a revision. */
  beyond(namespace: string, quota: string, revision: number): readonly Amounts[]
}

/** Charges of a server; `ended` hears of namespaces whose charges ended. */
export function createPending(ended: (namespace: string) => void): PendingCharges {
  const open = new Map<string, Set<PendingCharge>>()
  return {
    begin(namespace) {
      const charge = { namespace, amounts: new Map<string, Amounts>(), revision: undefined }
      const charges = open.get(namespace) ?? new Set()
      open.set(namespace, charges.add(charge))
      return charge
    },
    end(charge, revision) {
      charge.revision = revision
      if (revision === undefined) drop(charge)
      if (charge.amounts.size > 0) ended(charge.namespace)
      else drop(charge)
    },
    beyond(namespace, quota, revision) {
      const found: Amounts[] = []
      for (const charge of open.get(namespace) ?? []) {
        if (charge.revision !== undefined && charge.revision <= revision) drop(charge)
        else if (charge.amounts.has(quota)) found.push(charge.amounts.get(quota)!)
      }
      return found
    },
  }

  function drop(charge: PendingCharge): void {
    const charges = open.get(charge.namespace)
    charges?.delete(charge)
    if (charges?.size === 0) open.delete(charge.namespace)
  }
}
