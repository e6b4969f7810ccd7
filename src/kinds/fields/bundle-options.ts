/**
 * How a bundle is applied: fields of a Bundle's spec that travel inside the content-addressed set, so that a changed
 * option is a new revision and goes through its rollout like any other change. Absent means the default each
 * description names.
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

/** Methods of writing an object. */
export const APPLY_METHODS = ['ServerSideApply', 'Replace', 'CreateOnly', 'ReadOnly'] as const
/** Reactions to a change of an immutable field. */
export const IMMUTABLE = ['Fail', 'Recreate'] as const
/** Built-in health rules. */
const HEALTH_PROFILES = ['Native', 'Argo', 'KStatus', 'Exists'] as const
/** Reactions to an object that cannot be applied. */
const ON_ERROR = ['Stop', 'Continue'] as const
/** Handling of objects that existed before the Bundle. */
export const TAKEOVER = ['Always', 'IfNoDiff', 'Never'] as const
/** Times at which an object that left the set is deleted. */
export const PRUNE_MODES = ['Always', 'Never', 'Last', 'Confirm'] as const
/** Reactions to drift. */
export const DRIFT_MODES = ['Correct', 'Report', 'Ignore'] as const
/** Behaviour of a cluster that was offline when a change was admitted. */
export const CATCH_UP = ['Immediate', 'NextWindow', 'Hold'] as const
/** Policies for objects that leave a cluster. */
export const DELETE_POLICIES = ['Delete', 'Orphan'] as const
const glob = (description: string) => optional(text({ max: 253, description }))

/** Objects by group, kind, namespace and name; `*` stands for any text, an absent field for all. */
/** Fields that select objects. */
export const OBJECT_SELECTOR = {
  group: glob(
    'API group of the objects; an empty string is the core group. `*` stands for any text. If omitted, all groups match.',
  ),
  kind: glob('Kind of the objects, for example `Deployment`. `*` stands for any text. If omitted, all kinds match.'),
  namespace: glob('Namespace of the objects. `*` stands for any text. If omitted, all namespaces match.'),
  name: glob('Name of the objects. `*` stands for any text. If omitted, all names match.'),
}

/** The fields of a Bundle's spec that say how it is applied. */
export const BUNDLE_OPTIONS = {
  apply: optional(
    object(
      {
        method: optional(
          enumOf(APPLY_METHODS, {
            description:
              'Method that the agent uses to write an object. `ServerSideApply` uses server-side apply; `Replace` replaces the whole object; `CreateOnly` creates a missing object and never changes it; `ReadOnly` observes the object and never writes it. Defaults to `ServerSideApply`.',
          }),
        ),
        force: optional(
          flag({
            description:
              'If true, the agent takes over conflicting fields of other field managers when it applies an object for the first time. Fields of another Bundle are never taken over. Defaults to false.',
          }),
        ),
        immutable: optional(
          enumOf(IMMUTABLE, {
            description:
              'Reaction to a change of an immutable field. `Fail` reports the object as failed; `Recreate` deletes the object and creates it again. Defaults to `Fail`.',
          }),
        ),
        takeover: optional(
          enumOf(TAKEOVER, {
            description:
              'Handling of objects that existed before the Bundle. `Always` takes them over; `IfNoDiff` takes them over only if they equal the set; `Never` leaves them and reports a conflict. Defaults to `Always`.',
          }),
        ),
        onError: optional(
          enumOf(ON_ERROR, {
            description:
              'Reaction to an object that cannot be applied. `Stop` tries all objects before the first write, and applies none of them while one of them cannot be applied; `Continue` applies the other objects of the wave and tries the failed objects again. Defaults to `Stop`.',
          }),
        ),
        timeout: optional(
          duration({
            description:
              'Time within which the objects of a wave must become healthy, for example `10m`. After this time the operation has failed. Defaults to `5m`.',
          }),
        ),
        objects: optional(
          listOf(
            object({
              ...OBJECT_SELECTOR,
              method: optional(
                enumOf(APPLY_METHODS, {
                  description: 'Method for the matching objects. If omitted, the method of the Bundle.',
                }),
              ),
              force: optional(
                flag({
                  description: 'Value of `force` for the matching objects. If omitted, the value of the Bundle.',
                }),
              ),
            }),
            {
              max: 128,
              description:
                'Method and `force` for some objects. The first entry that matches an object is used. Annotations of the object take precedence.',
            },
          ),
        ),
      },
      { description: 'Options for writing the objects of the Bundle to the cluster.' },
    ),
  ),
  prune: optional(
    object(
      {
        mode: optional(
          enumOf(PRUNE_MODES, {
            description:
              'Time at which objects that are no longer part of the set are deleted. `Always` deletes them after the set is applied; `Last` after all objects of the set are healthy; `Confirm` after a person confirms; `Never` keeps them. Defaults to `Always`.',
          }),
        ),
        max: optional(
          int({
            description:
              "Maximum number of objects that one operation deletes. If more objects must be deleted, the agent deletes none, and the Bundle reports that it waits. If omitted, the number is limited only by the cluster's `spec.limits.maxPrune` and the agent's local limits.",
          }),
        ),
      },
      { description: 'Options for objects that are no longer part of the set.' },
    ),
  ),
  delete: optional(
    object(
      {
        removed: optional(
          enumOf(DELETE_POLICIES, {
            description:
              'Policy for an object that is no longer part of the set. `Delete` deletes the object; `Orphan` keeps it without management. Defaults to `Delete`.',
          }),
        ),
        unplaced: optional(
          enumOf(DELETE_POLICIES, {
            description:
              'Policy for all objects of the Bundle when its Placement no longer selects the cluster. `Delete` deletes the objects; `Orphan` keeps them without management. Defaults to `Delete`.',
          }),
        ),
        bundleDeleted: optional(
          enumOf(DELETE_POLICIES, {
            description:
              'Policy for all objects of the Bundle when the Bundle is deleted. `Delete` deletes the objects; `Orphan` keeps them without management. Defaults to `Delete`.',
          }),
        ),
        orphan: optional(
          listOf(object(OBJECT_SELECTOR), {
            max: 64,
            description: 'Selectors of objects that the agent never deletes. The agent orphans them instead.',
          }),
        ),
        named: optional(
          listOf(object(OBJECT_SELECTOR), {
            max: 64,
            description:
              'Selectors of Namespaces, CustomResourceDefinitions, PersistentVolumes and PersistentVolumeClaims that the agent may delete. Objects of these four kinds are orphaned if no selector matches them.',
          }),
        ),
        propagation: optional(
          enumOf(['Background', 'Foreground'], {
            description: 'Propagation policy of deletions, as in the Kubernetes API. Defaults to `Background`.',
          }),
        ),
      },
      { description: 'Deletion policy of the objects, by the cause of their removal.' },
    ),
  ),
  namespaces: optional(
    object(
      {
        create: optional(
          flag({ description: 'If true, the agent creates missing namespaces of the objects. Defaults to false.' }),
        ),
        labels: optional(stringMap({ max: 64, description: 'Labels that the agent sets on the namespaces.' })),
        annotations: optional(
          stringMap({ max: 64, description: 'Annotations that the agent sets on the namespaces.' }),
        ),
        delete: optional(
          flag({
            description:
              'If true, the namespaces that the agent created for this Bundle are deleted with the Bundle. Defaults to false.',
          }),
        ),
      },
      { description: 'Options for the namespaces of the objects.' },
    ),
  ),
  ignore: optional(
    listOf(
      object({
        ...OBJECT_SELECTOR,
        pointers: optional(
          listOf(text({ max: 1024 }), {
            max: 64,
            description: 'JSON pointers of the fields, for example `/spec/replicas`.',
          }),
        ),
        paths: optional(
          listOf(text({ max: 1024 }), {
            max: 64,
            description:
              'JSONPath expressions of the fields, for example `.spec.template.spec.containers[?(@.name=="web")].image`.',
          }),
        ),
        managers: optional(
          listOf(text({ max: 128 }), {
            max: 64,
            description: 'Names of field managers. The fields that these managers own are ignored.',
          }),
        ),
      }),
      {
        max: 64,
        description: 'Fields that the agent sets when it creates an object and does not change or compare afterwards.',
      },
    ),
  ),
  drift: optional(
    object(
      {
        mode: optional(
          enumOf(DRIFT_MODES, {
            description:
              'Reaction to drift. `Correct` writes the value of the set again; `Report` reports the Bundle as Drifted; `Ignore` does neither. Single fields are excluded with `ignore`. Defaults to `Correct`.',
          }),
        ),
      },
      { description: 'Options for differences between live objects and the set.' },
    ),
  ),
  health: optional(
    listOf(
      object({
        ...OBJECT_SELECTOR,
        failed: optional(
          text({
            max: 4096,
            description:
              'CEL expression over `object` that is true if the object has failed. Evaluated before `progressing` and `ready`.',
          }),
        ),
        progressing: optional(
          text({
            max: 4096,
            description:
              'CEL expression over `object` that is true if the object is still changing. Evaluated after `failed`.',
          }),
        ),
        ready: optional(
          text({
            max: 4096,
            description:
              'CEL expression over `object` that is true if the object is healthy. Any other result means that the object is still changing.',
          }),
        ),
        message: optional(
          text({
            max: 4096,
            description: 'CEL expression over `object` that returns the message of an object that is not healthy.',
          }),
        ),
        lua: optional(
          text({
            max: 32_768,
            description:
              'Script in Lua with the object as global variable `obj`, as in the health checks of Argo CD. The script returns a table with `status` (`Healthy`, `Suspended`, `Progressing`, `Degraded`, `Missing` or `Unknown`) and `message`. It has the functions of Lua 5.1 without `os`, `io`, `load`, `require`, `coroutine` and metatables, and cannot be combined with `failed`, `progressing`, `ready` and `message`.',
          }),
        ),
        ignore: optional(
          flag({
            description: 'If true, the matching objects do not count for the health of the Bundle. Defaults to false.',
          }),
        ),
      }),
      {
        max: 64,
        description:
          'Health rules for objects whose health neither kstatus nor the built-in rules determine. The first rule that matches an object is used.',
      },
    ),
  ),
  healthProfile: optional(
    enumOf(HEALTH_PROFILES, {
      description:
        'Built-in health rules. `Native` judges by kind and by conditions; `Argo` judges as Argo CD does, so that a custom resource without a rule is healthy; `KStatus` judges as kstatus, the library of Flux, does; with `Exists`, each object that exists is healthy. Entries of `health` come first. Defaults to `Native`.',
    }),
  ),
  ignoreConditions: optional(
    listOf(stringMap({ max: 16 }), {
      max: 64,
      description:
        'Conditions that do not count for the health of objects. A condition matches an entry if it has all fields of the entry, for example `{type: Stalled, reason: Waiting}`.',
    }),
  ),
  feedback: optional(
    listOf(
      object({
        ...OBJECT_SELECTOR,
        as: text({ max: 64, min: 1, description: 'Name of the value in the ClusterReport.' }),
        expression: optional(
          text({
            max: 4096,
            min: 1,
            description:
              'CEL expression over `object` that returns the value, for example `object.status.readyReplicas`. Exactly one of `expression` and `path` is required.',
          }),
        ),
        path: optional(
          text({
            max: 4096,
            min: 1,
            description:
              'JSONPath of the value, for example `.status.readyReplicas`. A value that does not exist is not reported.',
          }),
        ),
      }),
      { max: 128, description: 'Values of live objects that the agent reports to the hub.' },
    ),
  ),
  conditions: optional(
    listOf(
      object({
        ...OBJECT_SELECTOR,
        type: text({ max: 316, min: 1, description: 'Type of the condition.' }),
        expressions: listOf(text({ max: 4096, min: 1 }), {
          max: 32,
          min: 1,
          description: 'CEL expressions over `object`. The condition is True if all of them are true.',
        }),
        message: optional(text({ max: 1024, description: 'Message of the condition.' })),
        messageExpression: optional(
          text({
            max: 4096,
            description:
              'CEL expression over `object` and `result` that returns the message. `result` is the value of the condition.',
          }),
        ),
      }),
      { max: 128, description: 'Conditions of live objects that the agent evaluates and reports to the hub.' },
    ),
  ),
  reports: optional(
    enumOf(['Summary', 'Objects'], {
      description:
        'Detail of the report of the agent. `Summary`: the state of the Bundle and its objects that are not Ready. `Objects`: in addition whether each object is applied and exists, with the values of `feedback` and their types, within 256 KiB for all entries of a cluster. A Bundle with `conditions` is always reported like `Objects`. Defaults to `Summary`.',
    }),
  ),
  catchUp: optional(
    enumOf(CATCH_UP, {
      description:
        'Behaviour of a cluster that was offline when a change was admitted. `Immediate` applies the change when the cluster returns; `NextWindow` waits for a window that opens after the return; `Hold` waits for a new admission. Defaults to `Immediate`.',
    }),
  ),
  dependsOn: optional(
    listOf(
      object({
        bundle: text({ max: 317, min: 1, description: 'Name of a Bundle in this namespace, or `namespace/name`.' }),
        states: optional(
          setOf(enumOf(['Ready', 'Progressing', 'Drifted', 'Failed']), {
            max: 4,
            description: 'States that satisfy the dependency. Defaults to `[Ready]`.',
          }),
        ),
        generation: optional(
          int({
            minimum: 1,
            description: 'Minimum generation that the other Bundle must have reached on the cluster.',
          }),
        ),
      }),
      {
        max: 32,
        description:
          "Bundles that must be in one of the given states on the same cluster, at the generation of the cluster's document, before the agent starts this Bundle.",
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
            description:
              'Number of retries of a failed operation. The delay between retries grows from 10 s to 5 minutes. Defaults to 0.',
          }),
        ),
        install: optional(
          enumOf(['None', 'Uninstall'], {
            description:
              'Action after the last retry of a failed install. `None` keeps the objects; `Uninstall` removes them. Defaults to `None`.',
          }),
        ),
        upgrade: optional(
          enumOf(['None', 'RollBack', 'Uninstall'], {
            description:
              'Action after the last retry of a failed upgrade. `None` keeps the objects; `RollBack` applies the previous set again; `Uninstall` removes the objects. The Bundle stays Failed until it receives another revision. Defaults to `None`.',
          }),
        ),
      },
      { description: 'Reaction to a failed operation: a failed hook, or a wave that did not become healthy in time.' },
    ),
  ),
  hooks: optional(
    enumOf(['Run', 'Skip'], {
      description:
        'Handling of hooks. `Run` runs each hook once per operation; `Skip` runs no hooks. Defaults to `Run`. See docs/hooks.md.',
    }),
  ),
  checks: optional(
    object(
      {
        dependsOn: optional(
          listOf(
            object({
              checks: optional(
                listOf(name(), {
                  max: 256,
                  description: 'Names of the checks that wait. If omitted, all checks of the Bundle wait.',
                }),
              ),
              bundles: optional(
                listOf(text({ max: 317, min: 1 }), {
                  max: 16,
                  description:
                    'Bundles whose checks are waited for, as `namespace/name`. If omitted, checks of all Bundles match.',
                }),
              ),
              kind: optional(
                text({ max: 63, min: 1, description: 'Kind of the check to wait for. If omitted, all kinds match.' }),
              ),
              name: optional(
                name({
                  description: 'Name of the check to wait for. If omitted, all checks of `bundles` are waited for.',
                }),
              ),
              compliance: optional(
                enumOf(['Compliant', 'NonCompliant', 'Pending'], {
                  description: 'State that is waited for. Defaults to `Compliant`.',
                }),
              ),
            }),
            {
              max: 128,
              description:
                'States of other checks on the same cluster. A check that waits is Pending: the agent neither judges nor repairs, and what was enforced before stays.',
            },
          ),
        ),
        ignorePending: optional(
          listOf(name(), {
            max: 256,
            description: 'Names of checks that count as compliant while they are Pending.',
          }),
        ),
      },
      {
        description:
          'If set, the objects are checks of kind ConfigurationPolicy or CertificatePolicy of Open Cluster Management. The agent evaluates them and applies none of them. See docs/compliance.md.',
      },
    ),
  ),
  dialect: optional(
    enumOf(['Helm', 'Argo'], {
      description:
        'System whose annotations on objects are read besides those of flotilla.dev. `Helm` reads the annotations of Helm; `Argo` reads the annotations of Argo CD and of Helm, as Argo CD does. Defaults to `Helm`.',
    }),
  ),
  executor: optional(
    object(
      {
        namespace: name({ description: 'Namespace of the ServiceAccount.' }),
        name: name({ description: 'Name of the ServiceAccount.' }),
      },
      {
        description:
          'ServiceAccount of the cluster that the agent impersonates for all reads and writes of this Bundle. If omitted, the default executor of the Project is used, or, if the Project has none and grants `ownRights`, the ServiceAccount of the agent.',
      },
    ),
  ),
}

const { apply, delete: deletes, namespaces, ignore, ignoreConditions, drift, executor } = BUNDLE_OPTIONS

/** The options that a variant can replace for its clusters. */
export const VARIANT_OPTIONS = { apply, delete: deletes, namespaces, ignore, ignoreConditions, drift, executor }

/** The options as a schema of their own, for sets. */
export const BundleOptionsSchema = object(BUNDLE_OPTIONS)

export type BundleOptions = Static<typeof BundleOptionsSchema>

/** Objects by group, kind, namespace and name, as glob patterns. */
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
