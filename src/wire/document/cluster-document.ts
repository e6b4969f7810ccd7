/**
 * The one document a cluster's agent follows: what it says, before it is signed. See design.md part 4, points 3 and
 * 4.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { HookRules } from '../../kinds/fields/hook.ts'

/** One bundle the cluster should run. */
export interface DocumentEntry {
  /** `namespace/name` of the Bundle on the hub. */
  readonly bundle: string
  /** Rises with every change of intent; an agent never goes back. */
  readonly generation: number
  /** The complete set of objects. */
  readonly set: Digest
  /** The Rollout that admitted it, `namespace/name`; for people and receipts. */
  readonly rollout: string
  /** RFC 3339; not begun by then, the agent asks again instead of starting. */
  readonly startBy?: string
  /** RFC 3339: when it was admitted; a document that is signed again for its rules is no newer content. */
  readonly admittedAt?: string
  /** Number of manual retries of the same content. Agents that do not know it keep their own retries. */
  readonly attempt?: number
  /** The strictest policy of the revisions this one skips; the set's own counts as well. */
  readonly catchUp?: 'Immediate' | 'NextWindow' | 'Hold'
  /** The set's secret values, sealed to this cluster (sealed.ts); needs feature `sealed/v1`. */
  readonly sealed?: Digest
}

/** The only thing that removes a bundle from a cluster. */
export interface Tombstone {
  readonly bundle: string
  readonly generation: number
  readonly policy: 'Delete' | 'Orphan'
  /** Why; the agent then keeps what the bundle's own options say is kept for that cause. */
  readonly cause?: 'unplaced' | 'bundleDeleted'
}

/** In force on receipt. */
export interface DocumentRules {
  /** Windows and freezes; needs feature `windows/v1`. */
  readonly windows?: readonly DocumentWindow[]
  /** The whole cluster is held as it is; the sentence says why and until what. Needs feature `hold/v1`. */
  readonly hold?: { readonly message: string }
  /** Besides the cluster's own ceiling: the lower one counts. Needs feature `limits/v1`. */
  readonly limits?: { readonly maxPrune?: number }
  /**
   * A sealing key (SPKI, base64) that the agent is to replace by a new one; an agent that does not know this keeps
   * its key.
   */
  readonly retireSealingKey?: string
  /** The TrustBundle version the hub uses now. */
  readonly trustVersion: number
}

/** When content may begin, or may not; all of those that concern a bundle count. */
export interface DocumentWindow {
  readonly name: string
  readonly kind: 'Open' | 'Freeze'
  /** IANA time zone. */
  readonly zone: string
  readonly spans: readonly (
    | { readonly schedule: string; readonly duration: string }
    | { readonly from: string; readonly until: string }
  )[]
  /** Globs of `namespace/name`; all bundles when absent. */
  readonly bundles?: readonly string[]
  /**
   * What passes all the same: bundles by glob, of one generation or of any. An agent that does not know it holds
   * more.
   */
  readonly except?: readonly { readonly bundle: string; readonly generation?: number }[]
  /** Why, for people. */
  readonly reason?: string
}

/** Obeys windows and catch-up. */
export interface DocumentContent {
  readonly entries: readonly DocumentEntry[]
  readonly tombstones: readonly Tombstone[]
}

/** A cluster's document, numbered and chained. */
export interface ClusterDocument {
  readonly format: 'flotilla.dev/document/v1'
  readonly clusterId: string
  readonly epoch: number
  readonly revision: number
  /** Digest of the previous signed envelope; absent at the first revision. */
  readonly previous?: Digest
  /**
   * Digests of the envelopes before it, newest first (`previous` is the first of them): also an agent that missed
   * some knows its own past.
   */
  readonly ancestors?: readonly Digest[]
  /** Hub time, RFC 3339. */
  readonly issuedAt: string
  /** Features an agent must have to follow this document. */
  readonly requires: readonly string[]
  readonly rules: DocumentRules
  readonly content: DocumentContent
  /**
   * The cluster left the fleet: the agent carries nothing out any more and ends; what runs stays. Needs feature
   * `terminal/v1`.
   */
  readonly terminal?: { readonly at: string; readonly reason?: string }
}

/** A complete inventory of one bundle's objects; the blob behind `DocumentEntry.set`. */
export interface ObjectSet {
  /**
   * The second one has hooks: an agent that does not know them must not take them for objects. The third one is no
   * inventory: its objects are files (kind `File`), and the agent makes objects of them; it needs feature
   * `render/v1`.
   */
  readonly format: 'flotilla.dev/set/v1' | 'flotilla.dev/set/v2' | 'flotilla.dev/set/v3'
  /** How the objects are applied; part of the digest, so that a changed option is a change like any other. */
  readonly options?: BundleOptions
  /** Digest of the set's secret values as the hub stores them, encrypted. It grants no access to the values. */
  readonly values?: Digest
  /**
   * What the agent makes of the files, for the renderer (render/bundle/recipe.ts); in the third format and only
   * there.
   */
  readonly render?: { readonly recipe: JsonObject }
  readonly objects: readonly SetObject[]
}

/**
 * One object of a set; the blob behind `digest` is its canonical JSON. A file has its path as name, and the blob is
 * its bytes.
 */
export interface SetObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly digest: Digest
  /** Keys of a Secret's data whose values are not in the blob: they are in the object's slot of the sealed values. */
  readonly sealed?: readonly string[]
  /** It is run at these moments, and is no part of what the cluster should have. */
  readonly hook?: HookRules
}
