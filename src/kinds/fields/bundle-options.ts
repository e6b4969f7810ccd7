/**
 * How a bundle is applied: fields of a Bundle's spec that travel inside the content-addressed set, so that a changed option is a
 * new revision and goes through its rollout like any other change. Absent means the default each description names.
 */
import type { Static } from 'typebox'
import {
  duration,
  enumOf,
  flag,
  int,
  listOf,
  name,
  object,
  optional,
  setOf,
  stringMap,
  text,
} from '../schema/schema-builders.ts'

/** How an object is written. */
export const APPLY_METHODS = ['ServerSideApply', 'Replace', 'CreateOnly', 'ReadOnly'] as const
/** What happens when a field cannot be changed. */
export const IMMUTABLE = ['Fail', 'Recreate'] as const
/** Whether an object that was there before is taken. */
export const TAKEOVER = ['Always', 'IfNoDiff', 'Never'] as const
/** When an object that left the set is deleted. */
export const PRUNE_MODES = ['Always', 'Never', 'Last', 'Confirm'] as const
/** What is done about drift. */
export const DRIFT_MODES = ['Correct', 'Report', 'Ignore'] as const
/** What a cluster that was away does with what it missed. */
export const CATCH_UP = ['Immediate', 'NextWindow', 'Hold'] as const
/** What becomes of objects. */
export const DELETE_POLICIES = ['Delete', 'Orphan'] as const
const glob = (description: string) => optional(text({ max: 253, description }))

/** Objects by group, kind, namespace and name; `*` stands for any text, an absent field for all. */
const selector = {
  group: glob('API group; empty text is the core group.'),
  kind: glob('Kind.'),
  namespace: glob('Namespace.'),
  name: glob('Name.'),
}

/** The fields of a Bundle's spec that say how it is applied. */
export const BUNDLE_OPTIONS = {
  apply: optional(
    object(
      {
        method: optional(
          enumOf(APPLY_METHODS, {
            description:
              'ServerSideApply (default), Replace (the whole object), CreateOnly (never changed after), ReadOnly (looked at, never written).',
          }),
        ),
        force: optional(
          flag({
            description:
              'Take fields that people or controllers own when an object is met for the first time. Never from another bundle.',
          }),
        ),
        immutable: optional(
          enumOf(IMMUTABLE, { description: 'When a field cannot be changed: Fail (default), or Recreate the object.' }),
        ),
        takeover: optional(
          enumOf(TAKEOVER, {
            description: 'Objects that were there before: take them Always (default), IfNoDiff, or Never.',
          }),
        ),
        timeout: optional(
          duration({
            description: 'How long a wave may take to become healthy before it counts as failed; 5m unless said.',
          }),
        ),
      },
      { description: 'How objects are written.' },
    ),
  ),
  prune: optional(
    object(
      {
        mode: optional(
          enumOf(PRUNE_MODES, {
            description:
              'Objects that left the set are deleted once the set is applied (Always, default), once all of it is healthy (Last), when a person confirms (Confirm), or Never.',
          }),
        ),
        max: optional(
          int({ description: 'More than this many at once are not deleted: the bundle waits and says so.' }),
        ),
      },
      { description: 'What happens to objects that left the set.' },
    ),
  ),
  delete: optional(
    object(
      {
        removed: optional(
          enumOf(DELETE_POLICIES, { description: 'For an object that left the set; Delete unless said.' }),
        ),
        unplaced: optional(
          enumOf(DELETE_POLICIES, { description: 'When the cluster is no longer selected; Delete unless said.' }),
        ),
        bundleDeleted: optional(
          enumOf(DELETE_POLICIES, { description: 'When the Bundle is deleted; Delete unless said.' }),
        ),
        orphan: optional(listOf(object(selector), { max: 64, description: 'Objects that are never deleted.' })),
        named: optional(
          listOf(object(selector), {
            max: 64,
            description:
              'Namespaces, CustomResourceDefinitions, PersistentVolumes and PersistentVolumeClaims are kept unless they are named here.',
          }),
        ),
        propagation: optional(
          enumOf(['Background', 'Foreground'], {
            description: 'How Kubernetes deletes what an object owns; Background unless said.',
          }),
        ),
      },
      { description: 'Delete or Orphan, by cause.' },
    ),
  ),
  namespaces: optional(
    object(
      {
        create: optional(flag({ description: 'Make the namespaces that objects are in, when they are not there.' })),
        labels: optional(stringMap({ max: 64, description: 'Labels of those namespaces.' })),
        annotations: optional(stringMap({ max: 64, description: 'Annotations of those namespaces.' })),
        delete: optional(flag({ description: 'Delete the namespaces this bundle made when it is removed.' })),
      },
      { description: 'The namespaces of the objects.' },
    ),
  ),
  ignore: optional(
    listOf(
      object({
        ...selector,
        pointers: optional(
          listOf(text({ max: 1024 }), { max: 64, description: 'JSON pointers, such as `/spec/replicas`.' }),
        ),
        paths: optional(
          listOf(text({ max: 1024 }), {
            max: 64,
            description: 'Path expressions, such as `.spec.template.spec.containers[?(@.name=="web")].image`.',
          }),
        ),
        managers: optional(
          listOf(text({ max: 128 }), { max: 64, description: 'Field managers whose fields are left to them.' }),
        ),
      }),
      { max: 64, description: 'Fields that are set when the object is made and left alone afterwards.' },
    ),
  ),
  drift: optional(
    object(
      {
        mode: optional(
          enumOf(DRIFT_MODES, {
            description:
              'What somebody changed in the cluster is corrected (Correct, default), shown as Drifted (Report), or left alone (Ignore). Single fields: see `ignore`.',
          }),
        ),
      },
      { description: 'What happens when somebody changes what the bundle applied.' },
    ),
  ),
  health: optional(
    listOf(
      object({
        ...selector,
        failed: optional(text({ max: 4096, description: 'CEL over `object`; true: it failed. Asked first.' })),
        progressing: optional(text({ max: 4096, description: 'CEL; true: it is on its way. Asked second.' })),
        ready: optional(text({ max: 4096, description: 'CEL; true: it is well, anything else: it is on its way.' })),
        message: optional(text({ max: 4096, description: 'CEL; what is said when it is not well.' })),
        ignore: optional(flag({ description: 'These objects do not count for the health of the bundle.' })),
      }),
      { max: 64, description: 'When objects are well, where kstatus and the known kinds do not tell.' },
    ),
  ),
  ignoreConditions: optional(
    listOf(stringMap({ max: 16 }), {
      max: 64,
      description:
        'Conditions that have all of these fields, such as `{type: Stalled, reason: Waiting}`, do not count for the health of objects.',
    }),
  ),
  feedback: optional(
    listOf(
      object({
        ...selector,
        as: text({ max: 64, min: 1, description: 'The name of the value in the report.' }),
        expression: text({
          max: 4096,
          min: 1,
          description: 'CEL over `object`; a condition is one that gives true or false.',
        }),
      }),
      { max: 32, description: 'Values of live objects that the cluster reports.' },
    ),
  ),
  catchUp: optional(
    enumOf(CATCH_UP, {
      description:
        'What a cluster does that was away when a change came: Immediate (default), NextWindow: wait for a window that opens after its return, Hold: wait to be admitted again.',
    }),
  ),
  dependsOn: optional(
    listOf(
      object({
        bundle: text({ max: 317, min: 1, description: 'Name of a Bundle, or `namespace/name`.' }),
        states: optional(
          setOf(enumOf(['Ready', 'Progressing', 'Drifted', 'Failed']), {
            max: 4,
            description: 'States it may be in; Ready unless said.',
          }),
        ),
        generation: optional(int({ minimum: 1, description: 'It must have reached this generation.' })),
      }),
      {
        max: 32,
        description:
          'Bundles that must be well on the same cluster, at the generation their document names, before this one begins.',
      },
    ),
  ),
  remediation: optional(
    object(
      {
        retries: optional(
          int({
            minimum: 0,
            maximum: 100,
            description: 'How often it is tried again, later each time (10s up to 5m); 0 unless said.',
          }),
        ),
        install: optional(
          enumOf(['None', 'Uninstall'], {
            description: 'Then, when nothing ran before: None (default), or Uninstall: what was made is removed.',
          }),
        ),
        upgrade: optional(
          enumOf(['None', 'RollBack', 'Uninstall'], {
            description:
              'Then, when something ran before: None (default), RollBack: that is applied again, or Uninstall. The bundle stays Failed until another revision comes.',
          }),
        ),
      },
      { description: 'What is done when an operation failed: a hook, or a wave that took too long.' },
    ),
  ),
  hooks: optional(
    enumOf(['Run', 'Skip'], {
      description: 'Hooks are run once per operation (Run, default), or left out (Skip); see docs/hooks.md.',
    }),
  ),
  dialect: optional(
    enumOf(['Helm', 'Argo'], {
      description:
        "Whose annotations on objects count beside flotilla.dev's: Helm's (default), or Argo CD's and Helm's as Argo CD reads them.",
    }),
  ),
  executor: optional(
    object(
      { namespace: name({ description: 'Its namespace.' }), name: name({ description: 'Its name.' }) },
      { description: 'The ServiceAccount of the cluster as which everything of this bundle is read and written.' },
    ),
  ),
}

const { apply, delete: deletes, namespaces, ignore, ignoreConditions, drift, executor } = BUNDLE_OPTIONS

/** What of it a variant may say for its clusters. */
export const VARIANT_OPTIONS = { apply, delete: deletes, namespaces, ignore, ignoreConditions, drift, executor }

/** The options as a schema of their own, for sets. */
export const BundleOptionsSchema = object(BUNDLE_OPTIONS)

/** How a bundle is applied. */
export type BundleOptions = Static<typeof BundleOptionsSchema>

/** A rule that selects objects. */
export interface ObjectSelector {
  readonly group?: string | undefined
  readonly kind?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** The options within a larger spec; undefined when there are none, so that a set without options keeps its digest. */
export function pickBundleOptions(spec: BundleOptions): BundleOptions | undefined {
  const names = Object.keys(BUNDLE_OPTIONS) as (keyof BundleOptions)[]
  const given = names.filter((field) => spec[field] !== undefined).map((field) => [field, spec[field]])
  return given.length === 0 ? undefined : (Object.fromEntries(given) as BundleOptions)
}
