// Tested by src/wire/document/signed-document.test.ts
/**
 * The document that a cluster's agent follows, before it is signed, and the set behind each entry. The schemas are
 * the only declaration; the types are derived. A new field is optional, or needs a feature in `requires`, so that
 * older agents neither fail nor ignore an instruction.
 */
import type { Static } from 'typebox'
import type { DeepReadonly } from '../../core/deep-readonly.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import { Type } from '../../core/schema/typebox.ts'
import { BundleOptionsSchema, CATCH_UP, DELETE_POLICIES } from '../../kinds/fields/bundle-options.ts'
import { HookSchema } from '../../kinds/fields/hook.ts'
import { LIMITS } from '../limits.ts'

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
/** A Bundle (`namespace/name`), or a Delivery (`namespace/delivery:name`), which needs feature `delivery/v1`. */
const BundleName = Type.String({ maxLength: 326, pattern: '^[a-z0-9][-a-z0-9]*/(delivery:)?[a-z0-9][-a-z0-9.]*$' })
/** RFC 3339. */
const Time = Type.String({ maxLength: 40 })
const Revision = Type.Integer({ minimum: 1 })
/** Glob of `namespace/name`. */
const BundleGlob = Type.String({ maxLength: 384 })
const Sentence = Type.String({ maxLength: 1024 })
const oneOf = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] })

const Entry = Type.Object({
  /** The Bundle or Delivery on the hub. */
  bundle: BundleName,
  /** Increases with every change; an agent never returns to a lower generation. */
  generation: Revision,
  /** Digest of the complete set of objects. */
  set: DigestText,
  /** The Rollout that admitted the content, `namespace/name`, or the Delivery itself; for people and receipts. */
  rollout: Type.String({ maxLength: 326 }),
  /** An agent that has not begun by then asks the hub again instead of starting. */
  startBy: Type.Optional(Time),
  /** Time of the admission. A document that is signed again for its rules keeps it. */
  admittedAt: Type.Optional(Time),
  /** Number of manual retries of the same content. Agents that do not know it keep their own retries. */
  attempt: Type.Optional(Revision),
  /** The strictest policy of the skipped revisions; the policy of the set applies as well. */
  catchUp: Type.Optional(oneOf(CATCH_UP)),
  /** Entries with a lower number start first. Agents that do not know it start entries in any order. */
  order: Type.Optional(Type.Integer()),
  /** Digest of the set's secret values, sealed to this cluster (sealed-values.ts). Needs feature `sealed/v1`. */
  sealed: Type.Optional(DigestText),
})

const TombstoneSchema = Type.Object({
  bundle: BundleName,
  generation: Revision,
  policy: oneOf(DELETE_POLICIES),
  /** The reason of the removal; the options of the bundle can keep objects for it. */
  cause: Type.Optional(oneOf(['unplaced', 'bundleDeleted'])),
})

const Window = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 317 }),
  kind: oneOf(['Open', 'Freeze']),
  /** IANA time zone. */
  zone: Type.String({ minLength: 1, maxLength: 64 }),
  spans: Type.Array(
    Type.Union([
      Type.Object({ schedule: Type.String({ maxLength: 256 }), duration: Type.String({ maxLength: 64 }) }),
      Type.Object({ from: Time, until: Time }),
    ]),
    { maxItems: 64 },
  ),
  /** If omitted, the window applies to all bundles. */
  bundles: Type.Optional(Type.Array(BundleGlob, { maxItems: 64 })),
  /** Bundles that the window does not stop, of a generation or of all. Agents that do not know it stop more. */
  except: Type.Optional(
    Type.Array(Type.Object({ bundle: BundleGlob, generation: Type.Optional(Revision) }), { maxItems: LIMITS.bundles }),
  ),
  /** For people. */
  reason: Type.Optional(Sentence),
})

/** A pattern of a Project: a kind, a namespace, or an executor. */
const Pattern = Type.String({ minLength: 1, maxLength: 317 })
const Patterns = Type.Array(Pattern, { maxItems: 256 })

/** What a Project allows in a cluster. An absent list allows everything, an empty list nothing. */
const ProjectRule = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 253 }),
  /** Namespaces of the hub: the rule holds for the entries of their bundles. */
  namespaces: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { minItems: 1, maxItems: 2 * LIMITS.bundles }),
  /** `ConfigMap`, `apps/Deployment`, `apps/*`. */
  kinds: Type.Optional(Patterns),
  /** Namespaces of the cluster. */
  targetNamespaces: Type.Optional(Patterns),
  /** ServiceAccounts that bundles may name, `namespace/name`. */
  executors: Type.Optional(Patterns),
  /**
   * The ServiceAccount that sets of the Project name when the bundle names none, `namespace/name`. It is allowed
   * besides `executors`; a set without an executor is not applied.
   */
  defaultExecutor: Type.Optional(Pattern),
  /** Whether bundles without an executor may use the agent's own rights. */
  ownRights: Type.Boolean(),
})

/** A namespace of the hub without a Project, and why, for people. */
const NamespaceWithoutProject = Type.Object({
  namespace: Type.String({ minLength: 1, maxLength: 253 }),
  message: Sentence,
})

/** Decisions about the drift of objects of a bundle; plan/drift/drift-rules.ts decides with them. */
const DriftRule = Type.Object({
  bundle: BundleName,
  /** After this time the rule no longer counts, also without a newer document. */
  until: Type.Optional(Time),
  objects: Type.Array(
    Type.Object({
      kind: Type.String({ minLength: 1, maxLength: 63 }),
      namespace: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
      name: Type.String({ minLength: 1, maxLength: 253 }),
      /** Paths of fields that are left to other managers; absent: drift of the object is corrected. */
      ignore: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 64 })),
    }),
    { maxItems: 64 },
  ),
})

const Handover = Type.Object({
  /** The peer, for messages. */
  from: Type.String({ minLength: 1, maxLength: 63 }),
  step: Type.Union([Type.Literal('Compare'), Type.Literal('Take'), Type.Literal('Finish'), Type.Literal('Undo')]),
  /** Whether step `Take` overwrites fields that differ. */
  acceptDifferences: Type.Boolean(),
  /** A person has stopped the controllers of the peer: the agent stops none. */
  peerStopped: Type.Optional(Type.Boolean()),
  /** Time at which the step began; the report repeats it. */
  since: Type.Optional(Type.String({ maxLength: 40 })),
})

const Rules = Type.Object({
  /** Windows and freezes. Needs feature `windows/v1`. */
  windows: Type.Optional(Type.Array(Window, { maxItems: LIMITS.windows })),
  /** The whole cluster is on hold; the message says why and until when. Needs feature `hold/v1`. */
  hold: Type.Optional(Type.Object({ message: Type.String({ maxLength: 4096 }) })),
  /**
   * The cluster moves over from another system: in steps `Compare` and `Undo` the agent writes no content, in step
   * `Take` it takes objects over. Needs feature `handover/v1`.
   */
  handover: Type.Optional(Handover),
  /** Applies beside the cluster's local limits: the lower limit counts. Needs feature `limits/v1`. */
  limits: Type.Optional(Type.Object({ maxPrune: Type.Optional(Type.Integer({ minimum: 0 })) })),
  /**
   * The Projects that limit bundles of this document; a bundle of a namespace that neither this list nor
   * `withoutProject` names is not limited. Needs feature `projects/v1`.
   */
  projects: Type.Optional(Type.Array(ProjectRule, { maxItems: 2 * LIMITS.bundles })),
  /**
   * Namespaces of the hub that have lost their Project: their bundles stay as they are. Needs feature `projects/v1`.
   */
  withoutProject: Type.Optional(Type.Array(NamespaceWithoutProject, { maxItems: 2 * LIMITS.bundles })),
  /** Decisions about drift. Agents that do not know them keep to the options of the bundle. */
  drift: Type.Optional(Type.Array(DriftRule, { maxItems: LIMITS.driftRules })),
  /** A sealing key (SPKI, base64) that the agent must replace. Agents that do not know it keep their key. */
  retireSealingKey: Type.Optional(Type.String({ maxLength: 1024 })),
  /** Whether the agent reports free resources. Agents that do not know this rule report none. */
  capacity: Type.Optional(Type.Boolean()),
  /** Version of the trust bundle that the hub uses now. */
  trustVersion: Revision,
})

export const ClusterDocumentSchema = Type.Object({
  format: Type.Literal('flotilla.dev/document/v1'),
  clusterId: Type.String({ minLength: 1, maxLength: 64 }),
  /**
   * Key id of the cluster's identity key, as enrolled: with it, a document proves which key signs for the cluster.
   * Agents do not read it.
   */
  identity: Type.Optional(DigestText),
  epoch: Revision,
  revision: Revision,
  /** Digest of the previous signed envelope; absent at the first revision. */
  previous: Type.Optional(DigestText),
  /**
   * Digests of earlier envelopes, newest first, from `previous` on: an agent that missed some recognizes its own
   * past.
   */
  ancestors: Type.Optional(Type.Array(DigestText, { maxItems: LIMITS.ancestors })),
  /** The hub's time. */
  issuedAt: Time,
  /** Features that an agent must have to follow this document. */
  requires: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }),
  /** In force on receipt. */
  rules: Rules,
  /** The cluster left the fleet: the agent stops, and its objects stay. Needs feature `terminal/v1`. */
  terminal: Type.Optional(Type.Object({ at: Time, reason: Type.Optional(Sentence) })),
  /** Obeys windows and catch-up. */
  content: Type.Object({
    entries: Type.Array(Entry, { maxItems: LIMITS.bundles }),
    tombstones: Type.Array(TombstoneSchema, { maxItems: LIMITS.bundles }),
  }),
})

/**
 * A cluster's document, numbered and chained.
 *
 *     { format: 'flotilla.dev/document/v1', clusterId: 'c-1', epoch: 1, revision: 7, previous: 'sha256:…', …,
 *       content: { entries: [{ bundle: 'default/shop', generation: 4, set: 'sha256:…', … }], tombstones: [] } }
 */
export type ClusterDocument = DeepReadonly<Static<typeof ClusterDocumentSchema>>
/** A bundle that the cluster should run. */
export type DocumentEntry = DeepReadonly<Static<typeof Entry>>
/** The only instruction that removes a bundle from a cluster. */
export type Tombstone = DeepReadonly<Static<typeof TombstoneSchema>>
/** The limits of a Project for the bundles of its namespaces. plan/projects/limits.ts decides with them. */
export type DocumentProject = DeepReadonly<Static<typeof ProjectRule>>
export type DocumentRules = DeepReadonly<Static<typeof Rules>>
/** A time in which content may begin (`Open`) or may not (`Freeze`). All windows of a bundle count. */
export type DocumentWindow = DeepReadonly<Static<typeof Window>>

const SetObjectSchema = Type.Object({
  apiVersion: Type.String({ minLength: 1, maxLength: 317 }),
  kind: Type.String({ minLength: 1, maxLength: 63 }),
  namespace: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  // Object names are shorter; paths of files are not.
  name: Type.String({ minLength: 1, maxLength: 1024 }),
  digest: DigestText,
  /** Keys of a Secret's data whose values are not in the blob, but in the sealed values of the object. */
  sealed: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: LIMITS.setObjects })),
  /** Events at which the object runs. A hook is no part of the cluster's desired objects. */
  hook: Type.Optional(HookSchema),
})

export const ObjectSetSchema = Type.Object({
  /**
   * v2 has hooks: an agent that does not know hooks must not apply them as objects. v3 has files (kind `File`) that
   * the agent renders, and needs feature `render/v1`.
   */
  format: oneOf(['flotilla.dev/set/v1', 'flotilla.dev/set/v2', 'flotilla.dev/set/v3']),
  /** How the objects are applied; part of the digest, so that a changed option is a change like any other. */
  options: Type.Optional(BundleOptionsSchema),
  /** Digest of the set's secret values as the hub stores them, encrypted. It grants no access to the values. */
  values: Type.Optional(DigestText),
  /** The input of the agent's renderer (render/bundle/recipe.ts); in v3 only. */
  render: Type.Optional(Type.Object({ recipe: Type.Unsafe<JsonObject>({ type: 'object' }) })),
  objects: Type.Array(SetObjectSchema, { maxItems: LIMITS.setObjects }),
})

// Hooks and options are types of kinds, whose lists are mutable.
type StaticObject = Static<typeof SetObjectSchema>
type StaticSet = Static<typeof ObjectSetSchema>

/** An object of a set. The blob of `digest` is its canonical JSON; for a file, its bytes, with the path as name. */
export type SetObject = DeepReadonly<Omit<StaticObject, 'hook'>> & Readonly<Pick<StaticObject, 'hook'>>
/** The complete inventory of a bundle: the blob behind `DocumentEntry.set`. */
export type ObjectSet = DeepReadonly<Omit<StaticSet, 'options' | 'objects'>> &
  Readonly<Pick<StaticSet, 'options'>> & { readonly objects: readonly SetObject[] }
