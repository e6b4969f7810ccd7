// Tested by src/agent/cluster/cluster-state.contract.test.ts
/** The inventory of a bundle: its schema, in the cluster and in memory. */
import type { Static } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { BundleOptionsSchema } from '../../kinds/fields/bundle-options.ts'
import type { HookState } from '../../plan/apply/hook-step.ts'
import type { OperationKind } from '../../plan/apply/operation.ts'
import { checkValue, parseJson } from '../../wire/validate.ts'

const MAX_BYTES = 4 * 1024 * 1024

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })

const InventoryObject = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  /** Absent until the agent has applied the object. */
  uid: Type.Optional(Type.String()),
  /** The object existed before the bundle: it is never deleted with the bundle. */
  adopted: Type.Optional(Type.Boolean()),
  /** The beginning of the digest of the content that was applied last. */
  digest: Type.Optional(Type.String()),
  /** Fingerprint of the bundle's fields when the object was last without drift (plan/objects/managed-fields.ts). */
  share: Type.Optional(Type.String()),
  /** The object's own options for pruning and deletion when it was last applied. */
  prune: Type.Optional(Type.Unsafe<'Always' | 'Never' | 'Last' | 'Confirm'>({ type: 'string' })),
  delete: Type.Optional(Type.Unsafe<'Delete' | 'Orphan'>({ type: 'string' })),
  madeNamespace: Type.Optional(Type.Boolean()),
  /** The object's wave, for the order of its removal; absent for wave 0. */
  wave: Type.Optional(Type.Integer()),
})

/** An object that a bundle has, or may have, on the cluster. */
export type InventoryObject = Static<typeof InventoryObject>

const HookRecord = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  /** The operation and the event that the hook ran for. */
  operation: Type.Integer(),
  event: Type.String(),
  state: Type.Unsafe<HookState>({ type: 'string' }),
  /** UID of the hook's object; absent before it is known and after the object was deleted. */
  uid: Type.Optional(Type.String()),
  since: Type.String(),
  message: Type.Optional(Type.String()),
})

/** A run of a hook and its object, which is no part of the bundle's inventory. */
export type HookRecord = Static<typeof HookRecord>

const InventoryHead = {
  bundle: Type.String(),
  generation: Type.Integer(),
  epoch: Type.Integer(),
  set: DigestText,
  /**
   * Applying: `objects` is old ∪ new. Applied: the whole set is applied, older objects wait to be pruned. Settled:
   * `objects` is exactly the set.
   */
  phase: Type.Union([Type.Literal('Applying'), Type.Literal('Applied'), Type.Literal('Settled')]),
  /** The operation under way, its wave (from 0), and the time at which that wave was applied. */
  operation: Type.Optional(
    Type.Object({
      kind: Type.Unsafe<OperationKind>({ type: 'string' }),
      wave: Type.Integer(),
      appliedAt: Type.Optional(Type.String()),
      /** Time at which the wave began. */
      since: Type.Optional(Type.String()),
      /** Number of the attempt, from 1. */
      attempt: Type.Optional(Type.Integer()),
      /** The bundle gave objects back to another system: the operation has not begun, and decides about them anew. */
      isGivenBack: Type.Optional(Type.Boolean()),
      /** Why the operation failed, once the agent acts on the failure. */
      failed: Type.Optional(
        Type.Object({
          by: Type.Union([Type.Literal('Hook'), Type.Literal('Time')]),
          message: Type.String(),
          firstFailing: Type.Optional(Type.String()),
          at: Type.String(),
        }),
      ),
    }),
  ),
  /** Number of operations so far, which is the number of the current operation. */
  operations: Type.Optional(Type.Integer()),
  hooks: Type.Optional(Type.Array(HookRecord)),
  /** The set that failed on this cluster, and what the agent did about the failure. */
  remedy: Type.Optional(
    Type.Object({
      action: Type.Union([Type.Literal('RollBack'), Type.Literal('Uninstall')]),
      set: DigestText,
      generation: Type.Integer(),
      message: Type.String(),
      firstFailing: Type.Optional(Type.String()),
    }),
  ),
  /** The mark of the objects, for a set that the agent rendered. */
  rendered: Type.Optional(Type.String()),
  /** Sets that were settled on this cluster before, newest first. */
  history: Type.Optional(Type.Array(DigestText)),
  /** What the removal of this generation has finished; these objects are not in `objects` any more. */
  removed: Type.Optional(
    Type.Object({
      generation: Type.Integer(),
      deleted: Type.Integer(),
      left: Type.Array(Type.String()),
      leftTotal: Type.Integer(),
    }),
  ),
  /** The options of the set, for the removal of the bundle. */
  options: Type.Optional(BundleOptionsSchema),
}

const InventorySchema = Type.Object({ ...InventoryHead, objects: Type.Array(InventoryObject) })
const PagedSchema = Type.Object({
  ...InventoryHead,
  /** The objects are in this number of ConfigMaps of this half. */
  pages: Type.Object({ half: Type.Union([Type.Literal('a'), Type.Literal('b')]), count: Type.Integer() }),
})

/**
 * What one bundle has on the cluster, as the agent records it before and after each step. A crash between two steps
 * leaves an inventory from which the next start continues:
 *
 *     { bundle: 'default/shop', generation: 4, epoch: 1, set: 'sha256:…', phase: 'Applying',
 *       operation: { kind: 'Upgrade', wave: 1 }, objects: [{ apiVersion: 'v1', kind: 'ConfigMap', … }] }
 */
export type Inventory = Static<typeof InventorySchema>

/** The head of a large inventory, whose objects are in pages. */
export type PagedInventory = Static<typeof PagedSchema>

/** Reads an inventory, or the head of a paged inventory. */
export function parseInventory(name: string, text: string): PagedInventory | Inventory {
  const options = { what: `inventory ${name}`, maxBytes: MAX_BYTES }
  return parseJson(Type.Union([PagedSchema, InventorySchema]), utf8(text), options)
}

/** Reads the objects of a page. */
export function parsePage(name: string, text: string): InventoryObject[] {
  return checkValue(Type.Array(InventoryObject), JSON.parse(text) as unknown, name)
}
