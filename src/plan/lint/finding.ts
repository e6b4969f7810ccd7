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
    help: 'The text cannot be read where the message says. A source with such a file in the path of a bundle fails that bundle; nothing delivered is withdrawn.',
  },
  'invalid-object': {
    severity: 'error',
    title: 'The hub would refuse an object',
    help: 'A field of one of Flotilla’s own kinds is missing, or has a value that the API does not take. `kubectl explain KIND.FIELD` and `docs/kinds` say what it takes.',
  },
  'fleet-yaml': {
    severity: 'warning',
    title: 'A fleet.yaml says something that has no effect',
    help: 'A field of Rancher Fleet is misspelt or has no effect here; where it is an error, the bundle of that directory would not be taken. `docs/dialects/fleet.md` says of every field what becomes of it.',
  },
  'repeated-object': {
    severity: 'error',
    title: 'Two files hold the same object',
    help: 'Whichever is applied last would win. Remove one of them, or give it another name.',
  },
  'missing-reference': {
    severity: 'error',
    title: 'A name leads nowhere',
    help: 'A Bundle names a Placement, Source or RolloutPlan (or an Override a Bundle) that is neither in the files nor on the hub. Without a hub it is a warning: it may be there.',
  },
  'project-refuses': {
    severity: 'error',
    title: 'A Project refuses an object',
    help: 'The Project of the namespace does not allow the object, or the namespace has no Project. The message names the line of the Project. Change the object, or ask an administrator to change the Project. Projects come from the hub (`--hub`) or from the files; without them nothing is checked.',
  },
  'rule-not-met': {
    severity: 'error',
    title: 'Rendered content does not meet a rule',
    help: 'A ValidatingAdmissionPolicy of the hub or of the files, whose binding selects `flotilla.dev/rendered: "true"`, does not accept a rendered object. A binding that denies is an error: the hub releases no such content. A binding that warns is a warning, one that audits a note. Where an Override is an exception, it is a note. See [rules](compliance.md#rules-on-rendered-content).',
  },
  'cannot-render': {
    severity: 'error',
    title: 'A bundle cannot be rendered',
    help: 'The message is the renderer’s, with file and line. `flotilla render -f FILE --cluster NAME` repeats it for one cluster. Clusters would keep what they run.',
  },
  'not-rendered': {
    severity: 'note',
    title: 'Content was not looked at',
    help: 'It comes from elsewhere (a Helm repository, a registry, another git repository), or depends on clusters and none is known here. Give `--hub`, or files with Clusters.',
  },
  'unknown-field': {
    severity: 'error',
    title: 'A field does not exist',
    help: 'The API would drop the field, or refuse the object; most often it is misspelt or stands at the wrong depth, and the message names the nearest field that exists there. Kubernetes’ own kinds are checked with the fields of one version of Kubernetes; where clusters are newer than that, or of unknown version, it is a warning.',
  },
  'wrong-type': {
    severity: 'error',
    title: 'A value has the wrong type',
    help: 'The API refuses the whole object: a text where a number must be, a number in the `data` of a ConfigMap or in a label, a map where a list must be. Kubernetes’ own kinds are checked by their schemas, custom kinds by the CustomResourceDefinitions of the repository.',
  },
  'unknown-kind': {
    severity: 'note',
    title: 'A kind is not known here',
    help: 'Kinds of CRDs are served by the clusters that have them, so their fields are checked only if the repository has the CustomResourceDefinition. A kind of a group that only Kubernetes itself serves, and that it does not have, is a warning.',
  },
  'removed-api': {
    severity: 'error',
    title: 'An API version is no longer served',
    help: 'A selected cluster runs a Kubernetes that has removed this API version: applying the object fails there. Write the version the message names; the object in the cluster is the same one.',
  },
  'future-api': {
    severity: 'error',
    title: 'An API version is not served yet',
    help: 'A selected cluster runs a Kubernetes that is too old for this API version. Upgrade the cluster, or give it a variant with the older version.',
  },
  'deprecated-api': {
    severity: 'warning',
    title: 'An API version will go away',
    help: 'It works, but a later Kubernetes does not serve it. Change it before the clusters are upgraded.',
  },
  'unpinned-image': {
    severity: 'warning',
    title: 'An image is not pinned',
    help: 'No tag, or a tag that moves such as `latest`: what runs depends on when a node pulled it, and a rollback brings nothing back. Name a version, or better a digest (`name@sha256:…`).',
  },
  'unpinned-chart': {
    severity: 'warning',
    title: 'A chart is not pinned',
    help: 'No version, or a range: a new version of a third-party chart becomes a Release without a commit of yours. Name one version; keep `Chart.lock` beside a `Chart.yaml` with ranges.',
  },
  'overlapping-objects': {
    severity: 'error',
    title: 'Two bundles have the same object on a cluster',
    help: 'Fields that both claim with different values are refused on the cluster, naming both bundles. Where all claims agree, or no cluster is known to have both, it is a warning: remove one of the two all the same, because pruning one bundle asks about the other.',
  },
  'contradictory-selector': {
    severity: 'error',
    title: 'A selector can never match',
    help: 'Its requirements exclude each other, so that no cluster can ever meet all of them.',
  },
  'unmatched-selector': {
    severity: 'warning',
    title: 'A selector matches no cluster',
    help: 'No cluster that is known has these labels; the message names the requirement that no cluster meets and the nearest existing value. Without known clusters this check is skipped.',
  },
  'plaintext-secret': {
    severity: 'error',
    title: 'A Secret is in the repository as plaintext',
    help: 'Every reader of the repository, and of every clone of it, can read the value. The hub refuses the Bundle. Pass the value from a Secret of the hub (`spec.inputs`), keep it in the cluster (External Secrets, Sealed Secrets, SOPS), or allow plaintext Secrets for this repository: annotate the Source, or the GitRepo or Application that makes it, with `flotilla.dev/secrets: Allow`, or set `spec.secrets: Allow` in one Bundle. A Secret that clusters already have stays, with the condition `PlaintextSecret`.',
  },
  'no-rollout-strategy': {
    severity: 'warning',
    title: 'A change reaches all clusters at once',
    help: 'The Bundle has no `spec.rollout`, or its only ring changes all clusters at the same time. A mistake is then everywhere before the first cluster has shown it. Set `spec.rollout.plan` to a RolloutPlan whose first ring is small.',
  },
  'plan-without-gate': {
    severity: 'warning',
    title: 'Nothing is checked between the rings of a plan',
    help: 'No ring of the RolloutPlan has a soak time, a gate or an approval, so a ring starts as soon as the objects of the ring before are Ready. Set `soak`, `gates` or `approvals` of at least one ring.',
  },
  'unguarded-placement': {
    severity: 'warning',
    title: 'The guard of a Placement is switched off',
    help: 'With `spec.guard.maxDropped: 100%`, one wrong label or selector removes all Bundles from all clusters without a question. Remove `spec.guard`, so that a change may deselect at most a tenth of the clusters, or set a smaller number.',
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
