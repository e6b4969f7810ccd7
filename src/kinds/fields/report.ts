// Tested by src/wire/wire-schema.test.ts
/**
 * What an agent reports about its cluster, declared once: the ClusterReport stores these fields, and
 * `wire/link/frames.ts` derives the stricter schema of the agent's request from them. A new field is added here and
 * where the agent fills it.
 */
import { digest, entryId, enumOf, flag, int, listOf, object, optional, text, time } from '../schema/schema-builders.ts'
import { BUNDLE_STATES } from './states.ts'

/** States of the removal of a bundle on a cluster; `Removed` and `Orphaned` are receipts. */
const REMOVAL_STATES = ['Removing', 'Failed', 'Removed', 'Orphaned'] as const

/** States of content that runs. */
export const RUNNING_STATES = ['Ready', 'Progressing', 'Drifted', 'Failed'] as const

/** States of an object of a set, the worst first. */
export const OBJECT_STATES = ['Failed', 'Drifted', 'Progressing', 'Pending', 'Ready'] as const

/** Public X25519 key, SPKI in base64. */
export const X25519_KEY = '^MCowBQYDK2VuAyEA[A-Za-z0-9+/]{43}=$'

/** Longest sealed values of drifted fields. */
export const SEALED_VALUES_CHARS = 98_304

const OBJECT = 'Kind, namespace and name of the object.'

/** The state of a bundle on the cluster. */
export const ReportedBundle = object({
  bundle: entryId({ description: 'Bundle, as `namespace/name`, or Delivery, as `namespace/delivery:name`.' }),
  generation: int({ description: 'Generation of the content on the cluster.' }),
  set: digest({ description: 'Digest of the set of rendered objects on the cluster.' }),
  state: enumOf(BUNDLE_STATES, { description: 'State of the bundle on the cluster.' }),
  attempt: optional(int({ description: 'Number of the manual retry this report belongs to.' })),
  running: optional(
    object(
      {
        generation: int({ description: 'Generation that runs.' }),
        set: digest({ description: 'Digest of the set of rendered objects that runs.' }),
        state: optional(
          enumOf(RUNNING_STATES, {
            description: 'Last observed state. Absent if the agent has not observed it since it restarted.',
          }),
        ),
      },
      { description: 'Content that runs while this generation is Pending. Absent if nothing of the bundle runs.' },
    ),
  ),
  applied: optional(
    flag({
      description:
        'If true, the agent applied all objects of the set; if false, it did not. Reported while the state is Progressing or Failed. Agents of version 0.1 do not report it.',
    }),
  ),
  message: optional(text({ max: 4096, description: 'Message of the agent.' })),
  firstFailing: optional(text({ max: 1024, description: 'First object that is not healthy.' })),
  objects: optional(
    listOf(
      object({
        object: text({ max: 1024, description: OBJECT }),
        state: enumOf(OBJECT_STATES, { description: 'State of the object.' }),
        message: optional(text({ max: 4096, description: 'Message of the agent about the object.' })),
      }),
      {
        max: 200,
        description:
          'Objects that are not Ready, Failed objects first. A report has at most 200 objects and 64 KiB of them; `objectCounts` counts the others.',
      },
    ),
  ),
  objectCounts: optional(
    object(
      {
        Ready: optional(int({ description: 'Number of objects that are Ready.' })),
        Progressing: optional(int({ description: 'Number of objects that are not healthy yet.' })),
        Pending: optional(int({ description: 'Number of objects that were not observed yet.' })),
        Drifted: optional(int({ description: 'Number of objects that differ from the set.' })),
        Failed: optional(int({ description: 'Number of objects that failed.' })),
      },
      { description: 'Number of objects of the set by state. Agents of version 0.1 do not report it.' },
    ),
  ),
  drift: optional(
    listOf(
      object({
        object: text({ max: 1024, description: OBJECT }),
        fields: listOf(text({ max: 1024 }), {
          max: 20,
          description: 'Fields that differ, each with the field manager that owns it, at most 20.',
        }),
        since: text({ max: 40, description: 'Time at which the agent first observed the difference.' }),
      }),
      { max: 20, description: 'Objects that differ from the set and are not corrected, at most the first 20.' },
    ),
  ),
  corrections: optional(
    listOf(
      object({
        object: text({ max: 1024, description: OBJECT }),
        fields: listOf(text({ max: 1024 }), {
          max: 20,
          description: 'Fields of the last correction, each with the field manager that had changed it, at most 20.',
        }),
        times: int({ description: 'Number of corrections within the hour before the last one.' }),
        at: text({ max: 40, description: 'Time of the last correction.' }),
      }),
      {
        max: 20,
        description:
          'Objects whose drift the agent corrected since it started, the last corrections first, at most 20. Agents of version 0.1 do not report it.',
      },
    ),
  ),
  feedback: optional(
    listOf(
      object({
        object: text({ max: 1024, description: OBJECT }),
        name: text({ max: 64, description: 'Name of the value, as `as` in the Bundle.' }),
        value: text({ max: 1024, description: 'Value as a string.' }),
      }),
      {
        max: 20,
        description: 'Values of live objects that `spec.feedback` of the Bundle requests, at most the first 20.',
      },
    ),
  ),
})

/** The state of the removal of a bundle. */
export const ReportedRemoval = object({
  bundle: entryId({ description: 'Bundle, as `namespace/name`, or Delivery, as `namespace/delivery:name`.' }),
  generation: int({ description: 'Generation of the tombstone.' }),
  state: enumOf(REMOVAL_STATES, {
    description:
      'State of the removal. `Removed` and `Orphaned` are receipts: the agent no longer manages any object of the Bundle.',
  }),
  message: optional(text({ max: 4096, description: 'Message of the agent about what the removal waits for.' })),
  deleted: optional(int({ description: 'Number of deleted objects.' })),
  left: optional(
    listOf(text({ max: 2100 }), {
      max: 20,
      description: 'Objects left in place, each with the reason, at most the first 20.',
    }),
  ),
  leftTotal: optional(int({ description: 'Number of objects left in place.' })),
  at: optional(time({ description: "Time at which the removal finished, by the hub's clock as known to the agent." })),
})

/** Types of a reported value. */
export const VALUE_TYPES = ['Integer', 'String', 'Boolean', 'JsonRaw'] as const

/** What the agent observed of the objects of an entry. */
export const ReportedFeedback = object({
  bundle: entryId({ description: 'Bundle, as `namespace/name`, or Delivery, as `namespace/delivery:name`.' }),
  generation: int({ description: 'Generation of the content on the cluster.' }),
  objects: listOf(
    object({
      apiVersion: text({ max: 317, description: 'API version of the object.' }),
      kind: text({ max: 63, description: 'Kind of the object.' }),
      namespace: optional(text({ max: 63, description: 'Namespace of the object.' })),
      name: text({ max: 253, description: 'Name of the object.' }),
      applied: optional(
        flag({
          description:
            'If true, the object was applied as the set has it. If false, it could not be applied. Absent if the agent has not tried.',
        }),
      ),
      available: optional(
        flag({ description: 'If true, the object exists. Absent if the agent has not observed the object.' }),
      ),
      message: optional(text({ max: 4096, description: 'Error of the API server, or message about the object.' })),
      values: optional(
        listOf(
          object({
            name: text({ max: 64, description: 'Name of the value, as `as` of the rule.' }),
            type: enumOf(VALUE_TYPES, { description: 'Type of the value.' }),
            value: text({ max: 1024, description: 'Value as text; for `JsonRaw`, JSON.' }),
          }),
          { max: 128, description: 'Values that the rules in `feedback` request.' },
        ),
      ),
      missing: optional(
        text({ max: 1024, description: 'Names of requested values that do not exist or cannot be read.' }),
      ),
      conditions: optional(
        listOf(
          object({
            type: text({ max: 316, description: 'Type of the condition.' }),
            met: flag({ description: 'If true, all expressions of the rule are true.' }),
            reason: text({ max: 64, description: 'Reason of the status.' }),
            message: optional(text({ max: 1024, description: 'Message of the rule.' })),
          }),
          { max: 128, description: 'Conditions that the rules in `conditions` define.' },
        ),
      ),
    }),
    { max: 5000, description: 'Objects of the set.' },
  ),
})

/** States of a check on a cluster. */
const CHECK_STATES = ['Compliant', 'NonCompliant', 'Pending', 'Unknown'] as const

/** The result of a check: a policy that the agent evaluates. */
export const ReportedCheck = object({
  bundle: entryId({ description: 'Bundle of the check, as `namespace/name`.' }),
  generation: int({ description: 'Generation of the content on the cluster.' }),
  kind: text({ max: 63, description: 'Kind of the check, for example `ConfigurationPolicy`.' }),
  name: text({ max: 253, description: 'Name of the check.' }),
  state: enumOf(CHECK_STATES, {
    description:
      'State of the check. `Pending`: a dependency of the check is not met. `Unknown`: the agent has not evaluated the check yet, or cannot evaluate it.',
  }),
  message: optional(text({ max: 4096, description: 'Message of the evaluation.' })),
  since: text({ max: 40, description: 'Time at which the agent first observed the state.' }),
  objects: optional(
    listOf(
      object({
        object: text({ max: 1024, description: OBJECT }),
        reason: optional(text({ max: 1024, description: 'Reason of the violation.' })),
        difference: optional(
          text({
            max: 4096,
            description: 'Difference between the template and the object. Values of Secrets are not part of it.',
          }),
        ),
        since: text({ max: 40, description: 'Time at which the agent first observed the violation.' }),
      }),
      { max: 20, description: 'Objects that violate the check, at most the first 20.' },
    ),
  ),
  violations: optional(int({ description: 'Number of objects that violate the check.' })),
})

/** Results of a policy engine that fail, by the words of the PolicyReport API. */
const BAD_RESULTS = {
  fail: int({ description: 'Number of results `fail`.' }),
  warn: int({ description: 'Number of results `warn`.' }),
  error: int({ description: 'Number of results `error`: the engine could not evaluate the policy.' }),
}

/** Severities of the PolicyReport API, the worst first. */
export const RESULT_SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const

/** What policy engines of the cluster found, such as Kyverno and Gatekeeper. */
export const ReportedResults = object(
  {
    policies: listOf(
      object({
        engine: text({
          max: 63,
          min: 1,
          description:
            'Name of the policy engine, as its reports state it, for example `kyverno`. Constraints of Gatekeeper have `gatekeeper`.',
        }),
        policy: text({
          max: 380,
          min: 1,
          description: 'Name of the policy. For a constraint of Gatekeeper, its kind and name.',
        }),
        severity: optional(
          enumOf(RESULT_SEVERITIES, { description: 'Severity of the policy. Absent if the engine reports none.' }),
        ),
        category: optional(text({ max: 253, description: 'Category of the policy.' })),
        pass: int({ description: 'Number of results `pass`. Gatekeeper does not count them.' }),
        ...BAD_RESULTS,
        skip: int({ description: 'Number of results `skip`.' }),
        namespaces: optional(
          listOf(
            object({
              namespace: optional(
                text({
                  max: 63,
                  description: 'Name of the namespace. Absent for the results of cluster-scoped objects.',
                }),
              ),
              ...BAD_RESULTS,
            }),
            {
              max: 200,
              description:
                'Namespaces with results `fail`, `warn` or `error`, sorted with the highest counts first. Namespaces that exceed the size limit of the report are left out; the counts of the policy include them.',
            },
          ),
        ),
        objects: optional(
          listOf(
            object({
              object: text({ max: 1024, description: OBJECT }),
              result: enumOf(['fail', 'warn', 'error'] as const, {
                description: 'Result of the object, in the words of the PolicyReport API.',
              }),
              rule: optional(text({ max: 253, description: 'Rule of the policy.' })),
              message: optional(text({ max: 1024, description: 'Message of the engine.' })),
            }),
            { max: 5, description: 'Some of the objects that do not meet the policy.' },
          ),
        ),
      }),
      { max: 500, description: 'Policies that have results, the worst first.' },
    ),
    omitted: optional(
      int({ description: 'Number of policies that are left out, because the report has reached its size limit.' }),
    ),
    unread: optional(
      int({ description: 'Number of report objects that the agent does not read, because the cluster has too many.' }),
    ),
    denied: optional(
      listOf(text({ max: 320 }), { max: 16, description: 'Kinds of results that the agent may not list and watch.' }),
    ),
  },
  {
    description:
      'Results of the policy engines of the cluster: PolicyReports, Reports of OpenReports and constraints of Gatekeeper. Absent if the cluster has none of these kinds.',
  },
)

/** Why the agent does not follow the newest document. */
export const ReportedRefusal = object(
  {
    reason: text({ max: 64, min: 1, description: 'Reason in CamelCase, for example `MissingFeature`.' }),
    message: text({ max: 4096, description: 'Message of the agent.' }),
    epoch: optional(int({ description: 'Epoch of the refused document.' })),
    revision: optional(int({ description: 'Revision of the refused document.' })),
    document: optional(digest({ description: 'Digest of the refused document, if the agent could read it.' })),
  },
  { description: 'Reason why the agent does not follow the newest document. Absent while the agent follows it.' },
)

/** The newest lines of the agent's own log. */
export const ReportedLog = object(
  {
    asked: time({ description: 'Value of `spec.logsAskedAt` of the Cluster that the lines answer.' }),
    lines: listOf(text({ max: 400 }), { max: 100, description: 'Newest lines of the log, oldest first, at most 100.' }),
  },
  { description: 'Log lines of the agent. Present only after a user requested them.' },
)

/** Values of drifted fields, for the user who asked for them. */
export const ReportedValues = object(
  {
    asked: time({ description: 'Value of `spec.valuesAsked.at` of the Cluster that the values answer.' }),
    bundle: entryId({ description: 'Bundle or Delivery that the values belong to.' }),
    key: text({
      max: 64,
      pattern: X25519_KEY,
      description: 'Public key that the values are sealed to: `spec.valuesAsked.key` of the Cluster.',
    }),
    sealed: text({
      max: SEALED_VALUES_CHARS,
      description: 'Sealed values, in base64. Only the holder of the private key can open them.',
    }),
  },
  {
    description: 'Values of drifted fields. Present only after a user requested them.',
  },
)

/** States of a step of a handover. */
const HANDOVER_STATES = ['Working', 'Complete', 'Failed'] as const

/** How far the agent is with a step of a handover from another system. */
export const ReportedHandover = object(
  {
    from: text({ max: 63, min: 1, description: 'System that the cluster moves over from.' }),
    step: enumOf(['Compare', 'Take', 'Finish', 'Undo'], { description: 'Step of the handover.' }),
    since: text({ max: 40, description: 'Value of `spec.handover.since` of the Cluster that the state answers.' }),
    state: enumOf(HANDOVER_STATES, {
      description:
        'State of the step. `Working`: the agent works on it or waits. `Failed`: the agent cannot go on without a person, and tries again.',
    }),
    message: optional(text({ max: 4096, description: 'Message of the agent.' })),
    objects: optional(int({ description: 'Number of objects that the agent compared.' })),
    differing: optional(int({ description: 'Number of objects that differ or cannot be compared.' })),
    left: optional(
      int({ description: 'Number of objects that the other system lists and that no Bundle of the cluster has.' }),
    ),
    leftObjects: optional(
      listOf(text({ max: 1024 }), { max: 20, description: 'Some of the objects that no Bundle has, at most 20.' }),
    ),
  },
  { description: 'Handover of the cluster from another system. Absent without a handover.' },
)

/** Amounts of resources by name. */
const amounts = (description: string) =>
  listOf(
    object({
      name: text({ max: 253, min: 1, description: 'Name of the resource, for example `cpu`.' }),
      amount: text({ max: 64, description: 'Amount, as a Kubernetes quantity.' }),
    }),
    { max: 16, description },
  )

/** Free resources of the cluster, as the agent estimates them. */
export const ReportedCapacity = object(
  {
    allocatable: amounts('Resources of all nodes that take pods.'),
    free: amounts(
      'Resources that the pods of the cluster have not requested. The free resources of each node are rounded down to a tenth of the node.',
    ),
    nodes: listOf(
      object({
        count: int({ description: 'Number of nodes with these free resources.' }),
        free: amounts('Free resources of each of the nodes.'),
      }),
      {
        max: 32,
        description:
          'Nodes that take pods, by free resources. Nodes with similar free resources are reported together, with the least of them.',
      },
    ),
    quotas: optional(
      listOf(
        object({
          namespace: text({ max: 63, description: 'Namespace of the ResourceQuota.' }),
          free: amounts('Requests that the ResourceQuotas of the namespace still allow.'),
        }),
        { max: 100, description: 'Namespaces with ResourceQuotas, at most the first 100.' },
      ),
    ),
  },
  { description: 'Free resources of the cluster. Absent unless the hub asks for them.' },
)

/** The fields that a report and a ClusterReport have in common. */
export const REPORTED_FIELDS = {
  epoch: int({ description: 'Epoch of the document that the agent follows.' }),
  revision: int({ description: 'Revision of the document that the agent follows.' }),
  document: optional(digest({ description: 'Digest of the signed envelope of the document that the agent follows.' })),
  refusal: optional(ReportedRefusal),
  incarnation: optional(
    int({
      minimum: 2,
      description:
        "Number of the cluster's own timeline. Increased when the cluster is restored from a backup; absent before the first restore.",
    }),
  ),
  log: optional(ReportedLog),
  values: optional(ReportedValues),
  handover: optional(ReportedHandover),
  bundles: listOf(ReportedBundle, {
    max: 500,
    default: [],
    description: 'Bundles on the cluster. Defaults to an empty list.',
  }),
  feedback: optional(
    listOf(ReportedFeedback, {
      max: 500,
      description:
        'Observations of single objects, for Deliveries and for Bundles with `conditions`; at most 256 KiB. Entries that do not fit are reported in turn; an entry that is absent is not reported.',
    }),
  ),
  checks: optional(
    listOf(ReportedCheck, {
      max: 2000,
      description:
        'Results of the checks on the cluster. All states are reported; messages and objects have 256 KiB together and are left out in turn where they do not fit.',
    }),
  ),
  results: optional(ReportedResults),
  capacity: optional(ReportedCapacity),
  removals: optional(
    listOf(ReportedRemoval, {
      max: 500,
      description: 'Bundles that are being removed or were removed recently.',
    }),
  ),
}
