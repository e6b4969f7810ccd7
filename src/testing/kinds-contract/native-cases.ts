/** Our own kinds, spoiled: what must be refused. */
import type { JsonObject } from '../../core/json.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { cause, invalid, RULES_NOT_CHECKED, wrongType } from './validation-case.ts'
import type { ValidationCase } from './validation-case.ts'

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'

/** The cases. */
export const NATIVE_CASES: readonly ValidationCase[] = [
  {
    title: 'a bad name',
    kind: Placement,
    on: 'create',
    spoil: (object) => (object.metadata.name = 'Not_A_Name'),
    causes: [
      invalid(
        'metadata.name',
        `"Not_A_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`,
      ),
    ],
  },
  {
    title: 'bad labels',
    kind: Placement,
    on: 'create',
    spoil: (object) => (object.metadata.labels = { 'a/b/c': 'x', ok: 'not ok' }),
    causes: [
      invalid(
        'metadata.labels',
        `"a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ),
      invalid(
        'metadata.labels',
        `"not ok": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      ),
    ],
  },
  {
    title: 'required fields that are absent',
    kind: Bundle,
    on: 'create',
    spoil: (object) => (object.spec = {}),
    causes: [cause('spec.placement', 'FieldValueRequired', 'Required value')],
  },
  {
    title: 'no spec at all',
    kind: Bundle,
    on: 'create',
    spoil: (object) => delete (object as { spec?: unknown }).spec,
    causes: [cause('spec', 'FieldValueRequired', 'Required value')],
  },
  {
    title: 'a number where a text belongs',
    kind: Bundle,
    on: 'create',
    spoil: (object) => (object.spec['manifests'] = 5),
    causes: [wrongType('spec.manifests', 'string', 'integer')],
  },
  {
    title: 'a percentage over 100 and a count of none',
    kind: Bundle,
    on: 'create',
    spoil: (object) => (object.spec['rollout'] = { concurrency: '101%' }),
    causes: [
      invalid(
        'spec.rollout.concurrency',
        `"101%": spec.rollout.concurrency in body should match '^([1-9][0-9]?|100)%$'`,
      ),
    ],
  },
  {
    title: 'a count below its minimum',
    kind: Bundle,
    on: 'create',
    spoil: (object) => (object.spec['rollout'] = { concurrency: 0 }),
    causes: [
      invalid('spec.rollout.concurrency', '0: spec.rollout.concurrency in body should be greater than or equal to 1'),
    ],
  },
  {
    title: 'neither a number nor a text',
    kind: Bundle,
    on: 'create',
    spoil: (object) => (object.spec['rollout'] = { concurrency: true }),
    causes: [wrongType('spec.rollout.concurrency', 'integer,string', 'boolean')],
  },
  {
    title: 'a word the field does not know, where rules exist',
    kind: JoinToken,
    on: 'create',
    spoil: (object) => (object.spec['accept'] = 'Sometimes'),
    causes: [
      cause(
        'spec.accept',
        'FieldValueNotSupported',
        'Unsupported value: "Sometimes": supported values: "Auto", "Manual", "Networks", "Rule"',
      ),
      RULES_NOT_CHECKED,
    ],
  },
  {
    title: 'a time that is none',
    kind: JoinToken,
    on: 'create',
    spoil: (object) => (object.spec['expiresAt'] = 'tomorrow'),
    causes: [wrongType('spec.expiresAt', 'date-time', 'tomorrow'), RULES_NOT_CHECKED],
  },
  {
    title: 'an operator that does not exist',
    kind: Placement,
    on: 'create',
    spoil: (object) =>
      (object.spec['clusterSelector'] = { matchExpressions: [{ key: 'a', operator: 'Like' }, { operator: 'Exists' }] }),
    causes: [
      cause(
        'spec.clusterSelector.matchExpressions[0].operator',
        'FieldValueNotSupported',
        'Unsupported value: "Like": supported values: "In", "NotIn", "Exists", "DoesNotExist"',
      ),
      cause('spec.clusterSelector.matchExpressions[1].key', 'FieldValueRequired', 'Required value'),
    ],
  },
  {
    title: 'a text that is too long',
    kind: PlacementDecision,
    on: 'create',
    spoil: (object) => (object.spec['placement'] = 'p'.repeat(254)),
    causes: [cause('spec.placement', 'FieldValueTooLong', 'Too long: may not be more than 253 bytes')],
  },
  {
    title: 'a list that is too long',
    kind: Rollout,
    on: 'create',
    spoil: (object) => (object.spec['rings'] = Array.from({ length: 33 }, (_, index) => ({ name: `r${index}` }))),
    causes: [cause('spec.rings', 'FieldValueTooMany', 'Too many: 33: must have at most 32 items'), RULES_NOT_CHECKED],
  },
  {
    title: 'a list that is too short',
    kind: Release,
    on: 'create',
    spoil: (object) => (object.spec['bundles'] = []),
    causes: [invalid('spec.bundles', '0: spec.bundles in body should have at least 1 items')],
  },
  {
    title: 'a digest that is none',
    kind: Release,
    on: 'create',
    spoil: (object) => ((object.spec['bundles'] as JsonObject[])[0]!['set'] = 'sha256:abc'),
    causes: [
      invalid('spec.bundles[0].set', `"sha256:abc": spec.bundles[0].set in body should match '^sha256:[0-9a-f]{64}$'`),
    ],
  },
  {
    title: 'the same key twice',
    kind: Release,
    on: 'create',
    spoil: (object) => {
      const [row] = object.spec['bundles'] as JsonObject[]
      object.spec['bundles'] = [row, { ...row, generation: 2 }, { ...row, generation: 3 }]
    },
    causes: [cause('spec.bundles[1]', 'FieldValueDuplicate', 'Duplicate value: {"name":"hello"}')],
  },
  {
    title: 'a change of what never changes',
    kind: Release,
    on: 'update',
    spoil: (object) => ((object.spec['bundles'] as JsonObject[])[0]!['generation'] = 2),
    causes: [invalid('spec', 'field is immutable')],
  },
  {
    title: 'a change of an id',
    kind: Cluster,
    on: 'update',
    spoil: (object) => (object.spec['id'] = 'c-other'),
    causes: [invalid('spec.id', '"c-other": field is immutable')],
  },
  {
    title: 'a wrong status, whose messages leave out the word status',
    kind: Cluster,
    on: 'status',
    spoil: (object) => (object.status = { bundles: { total: -1, ready: 'x' }, state: 'Sunny' }),
    causes: [
      invalid('status.bundles.total', '-1: bundles.total in body should be greater than or equal to 0'),
      cause(
        'status.bundles.ready',
        'FieldValueTypeInvalid',
        'Invalid value: "string": bundles.ready in body must be of type integer: "string"',
      ),
      cause(
        'status.state',
        'FieldValueNotSupported',
        'Unsupported value: "Sunny": supported values: "Ready", "Progressing", "Pending", "Offline", "Drifted", "Failed", "NotSelected"',
      ),
      RULES_NOT_CHECKED,
    ],
  },
  {
    title: 'a condition without its parts',
    kind: Rollout,
    on: 'status',
    spoil: (object) => (object.status = { conditions: [{ type: 'Ready', status: 'Yes' }] }),
    causes: [
      cause(
        'status.conditions[0].status',
        'FieldValueNotSupported',
        'Unsupported value: "Yes": supported values: "True", "False", "Unknown"',
      ),
      cause('status.conditions[0].lastTransitionTime', 'FieldValueRequired', 'Required value'),
      cause('status.conditions[0].reason', 'FieldValueRequired', 'Required value'),
      cause('status.conditions[0].message', 'FieldValueRequired', 'Required value'),
      RULES_NOT_CHECKED,
    ],
  },
]
