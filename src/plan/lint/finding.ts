/** What lint can find: one entry per check, with the id that scripts and links may rely on. */
import type { FieldPath } from '../objects/managed-fields.ts'

/** How much a finding matters: an error fails `flotilla validate`, a note only says what was not checked. */
export type Severity = 'error' | 'warning' | 'note'

interface Check {
  readonly severity: Severity
  /** What is wrong, in a few words. */
  readonly title: string
  /** Why it matters and what to do, for the docs page. */
  readonly help: string
}

/** Every check, by its permanent id. */
export const CHECKS = {
  'unreadable-file': {
    severity: 'error',
    title: 'A file is not YAML',
    help: 'The file cannot be parsed at the position in the message. A Bundle whose path contains such a file fails; clusters keep what was delivered.',
  },
  'invalid-object': {
    severity: 'error',
    title: 'The hub would refuse an object',
    help: 'A field of one of Flotilla’s own kinds is missing, or has a value that the API does not accept. `kubectl explain KIND.FIELD` and `docs/kinds` describe the accepted values.',
  },
  'fleet-yaml': {
    severity: 'warning',
    title: 'A field of Rancher Fleet has no effect',
    help: 'A field of Rancher Fleet is misspelt or has no effect in Flotilla. If the finding is an error, the hub does not deliver the bundle of that directory. `docs/dialects/fleet.md` describes the effect of each field.',
  },
  'repeated-object': {
    severity: 'error',
    title: 'Two files hold the same object',
    help: 'The file or object that is applied last replaces the other. Remove one of them, or give it another name.',
  },
  'missing-reference': {
    severity: 'error',
    title: 'A referenced object does not exist',
    help: 'A Bundle names a Placement, Source or RolloutPlan (or an Override a Bundle) that is neither in the files nor on the hub. Without a connection to a hub the finding is a warning, because the object can be on the hub.',
  },
  'project-refuses': {
    severity: 'error',
    title: 'A Project refuses an object',
    help: 'The Project of the namespace does not allow the object, or the namespace has no Project. The message names the field of the Project. Change the object, or ask an administrator to change the Project. Projects come from the hub (`--hub`) or from the files; without them nothing is checked.',
  },
  'rule-not-met': {
    severity: 'error',
    title: 'Rendered content does not meet a rule',
    help: 'A ValidatingAdmissionPolicy of the hub or of the files, whose binding selects `flotilla.dev/rendered: "true"`, does not accept a rendered object. The finding is an error if the binding denies, because the hub does not release such content; a warning if the binding warns; and a note if the binding audits, or if an Override is an exception. See [rules](compliance.md#rules-on-rendered-content).',
  },
  'cannot-render': {
    severity: 'error',
    title: 'A bundle cannot be rendered',
    help: 'The content cannot be rendered. The message is the error of the renderer with file and line. `flotilla render -f FILE --cluster NAME` renders for one cluster and prints the same error. Clusters keep what they run.',
  },
  'not-rendered': {
    severity: 'note',
    title: 'Content was not checked',
    help: 'The content was not checked, because it comes from another place (a Helm repository, a registry, another git repository), or because it depends on clusters and no cluster is known. Use `--hub`, or add files with Clusters.',
  },
  'unknown-field': {
    severity: 'error',
    title: 'A field does not exist',
    help: 'The kind has no such field. The API server drops the field, or refuses the object. Usually the field is misspelt or at the wrong level; the message names the nearest field of that level. Built-in kinds are checked with the fields of one version of Kubernetes. If clusters have a newer or an unknown version, the finding is a warning.',
  },
  'wrong-type': {
    severity: 'error',
    title: 'A value has the wrong type',
    help: 'A value has the wrong type, for example a string instead of a number, a number in the `data` of a ConfigMap or in a label, or a map instead of a list. The API server refuses the whole object. Built-in kinds are checked with their schemas, custom kinds with the CustomResourceDefinitions of the repository.',
  },
  'boolean-key': {
    severity: 'warning',
    title: 'A key is a boolean of YAML',
    help: 'A map of strings, for example the `data` of a ConfigMap or the labels of an object, has the key `true` or `false`. Usually the file has the key `y`, `yes`, `on`, `n`, `no` or `off` without quotes: Kubernetes reads these words as booleans. Put the key in quotes.',
  },
  'unknown-kind': {
    severity: 'note',
    title: 'A kind is not known',
    help: 'The fields of a custom kind are checked only if the repository contains its CustomResourceDefinition. A kind that does not exist in a group of Kubernetes itself is a warning.',
  },
  'removed-api': {
    severity: 'error',
    title: 'An API version is no longer served',
    help: 'A selected cluster runs a Kubernetes that has removed this API version: applying the object fails on this cluster. Change the object to the version in the message; the object in the cluster stays the same.',
  },
  'future-api': {
    severity: 'error',
    title: 'An API version is not served yet',
    help: 'A selected cluster runs a Kubernetes that is too old for this API version. Upgrade the cluster, or give it a variant with the older version.',
  },
  'deprecated-api': {
    severity: 'warning',
    title: 'An API version will go away',
    help: 'The API version works now, but a later version of Kubernetes does not serve it. Change the API version before you upgrade the clusters.',
  },
  'unpinned-image': {
    severity: 'warning',
    title: 'An image is not pinned',
    help: 'The image has no tag, or a tag such as `latest` that moves to newer images. The version that runs depends on the time at which a node pulled the image, and a rollback does not restore the previous version. Use the tag of a version, or a digest (`name@sha256:…`).',
  },
  'unpinned-chart': {
    severity: 'warning',
    title: 'A chart is not pinned',
    help: 'The chart has no version or a range of versions, so a new version of the chart is rolled out without a commit in your repository. Use one exact version, or keep a `Chart.lock` beside a `Chart.yaml` with ranges.',
  },
  'overlapping-objects': {
    severity: 'error',
    title: 'Two bundles have the same object on a cluster',
    help: 'Two Bundles contain the same object. If they set a field to different values, the agent refuses the field and names both Bundles. If all values are equal, or if no known cluster has both Bundles, the finding is a warning. Remove the object from one of the Bundles.',
  },
  'contradictory-selector': {
    severity: 'error',
    title: 'A selector can never match',
    help: 'The requirements of the selector exclude each other, so no cluster can meet all of them.',
  },
  'unmatched-selector': {
    severity: 'warning',
    title: 'A selector matches no cluster',
    help: 'No known cluster has the labels of the selector. The message names the requirement that no cluster meets, and the nearest existing value. This check is skipped if no clusters are known.',
  },
  'plaintext-secret': {
    severity: 'error',
    title: 'A Secret is in the repository as plaintext',
    help: 'Every reader of the repository, and of every clone of it, can read the value. The hub refuses the Bundle. Pass the value from a Secret of the hub (`spec.inputs`), keep it in the cluster (External Secrets, Sealed Secrets, SOPS), or allow plaintext Secrets for this repository: annotate the Source, or the GitRepo or Application that makes it, with `flotilla.dev/secrets: Allow`, or set `spec.secrets: Allow` in one Bundle. A Secret that clusters already have stays, with the condition `PlaintextSecret`.',
  },
  'no-rollout-strategy': {
    severity: 'warning',
    title: 'A change reaches all clusters at once',
    help: 'The Bundle has no `spec.rollout`, or its only ring changes all clusters at the same time. A mistake then reaches all clusters before the first cluster can show it. Set `spec.rollout.plan` to a RolloutPlan whose first ring is small.',
  },
  'plan-without-gate': {
    severity: 'warning',
    title: 'Nothing is checked between the rings of a plan',
    help: 'No ring of the RolloutPlan has a soak time, a gate or an approval, so a ring starts as soon as the objects of the ring before are Ready. Set `soak`, `gates` or `approvals` of at least one ring.',
  },
  'unguarded-placement': {
    severity: 'warning',
    title: 'The guard of a Placement is switched off',
    help: 'With `spec.guard.maxDropped: 100%`, one wrong label or selector can remove all Bundles from all clusters without confirmation. Remove `spec.guard`, so that a change may deselect at most a tenth of the clusters, or set a smaller number.',
  },
} as const satisfies Record<string, Check>

/** The id of a check. */
export type CheckId = keyof typeof CHECKS

/** Something that was found. */
export interface Finding {
  readonly check: CheckId
  readonly severity: Severity
  /** A sentence, without full stop, that says what is wrong with what. */
  readonly message: string
  /** What to do about it. */
  readonly todo?: string
  /** The field, in the object that was looked at. */
  readonly place?: FieldPath
}

/** A finding with the severity its check has, unless it is said otherwise. */
export function finding(
  check: CheckId,
  message: string,
  more: Partial<Pick<Finding, 'severity' | 'todo' | 'place'>> = {},
): Finding {
  return { check, severity: CHECKS[check].severity, message, ...more }
}
