import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  digest,
  duration,
  flag,
  int,
  listOf,
  name,
  object,
  optional,
  text,
  time,
} from '../schema/schema-builders.ts'

// A ref is never an option (leading dash), never two of them, and never a pattern.
const REF = '^[A-Za-z0-9_@+][A-Za-z0-9_.@+/=#-]*$'
const path = () => text({ max: 1024, min: 1, pattern: '^[^/\\\\].*$' })
const url = (description: string) => text({ max: 2048, min: 1, pattern: '^[A-Za-z0-9/].*$', description })
const range = (description: string) => text({ max: 128, min: 1, description })

/** Where content comes from. */
export const Source = defineKind({
  kind: 'Source',
  plural: 'sources',
  scope: 'Namespaced',
  shortNames: ['fsrc'],
  events: { warnWhenFalse: ['Released'] },
  description: 'Where content comes from: a git repository, a chart of a Helm repository, or an OCI artifact.',
  spec: object({
    git: optional(
      object(
        {
          url: url('`https://…`, `ssh://…`, `user@host:path`, or a local path the hub allows.'),
          ref: optional(
            object(
              {
                branch: optional(text({ max: 255, min: 1, pattern: REF })),
                tag: optional(text({ max: 255, min: 1, pattern: REF })),
                semver: optional(range('The newest tag in this range, such as `>=1.2.0 <2`.')),
                commit: optional(text({ max: 64, min: 40, pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$' })),
              },
              { description: "What to follow, exactly one; without it, the repository's default branch." },
            ),
          ),
        },
        { description: 'A git repository.' },
      ),
    ),
    helm: optional(
      object(
        {
          url: url('The address of the repository, where its index.yaml is; without `chart`, of the archive itself.'),
          chart: optional(
            text({
              max: 253,
              min: 1,
              pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
              description:
                'Which chart of the repository; without it, the one at the address (`https://…/web-1.0.0.tgz`).',
            }),
          ),
          version: optional(
            range('The newest version of `chart` in this range; all stable ones without it. An archive has its own.'),
          ),
          verify: optional(
            flag({ default: false, description: 'The chart must be signed with a key of `keyring` in the Secret.' }),
          ),
        },
        { description: 'A chart of a Helm repository, or the archive of one.' },
      ),
    ),
    oci: optional(
      object(
        {
          url: url('`oci://registry/repository`, without tag.'),
          tag: optional(text({ max: 128, min: 1, pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*$' })),
          semver: optional(range('The newest tag in this range.')),
          digest: optional(digest({ description: 'Exactly this manifest.' })),
        },
        { description: 'A chart or another artifact in an OCI registry.' },
      ),
    ),
    paths: optional(listOf(path(), { max: 256, description: 'Files and directories to take; everything without it.' })),
    ignore: optional(
      listOf(path(), {
        max: 256,
        description: 'Files and directories to leave out; `*` is a part of a name, `**` any directories.',
      }),
    ),
    credentials: optional(
      name({ description: 'A Secret in this namespace, bound to addresses by its annotation `flotilla.dev/urls`.' }),
    ),
    interval: optional(duration({ default: '1m', description: 'How often to ask for news; at least 5s.' })),
    timeout: optional(duration({ default: '1m', description: 'How long one fetch may take.' })),
    suspend: optional(
      flag({ default: false, description: 'Asks nobody while true; the last artifact goes on serving.' }),
    ),
    accept: optional(
      text({
        max: 128,
        description:
          'A commit, version or digest that is held because it does not follow the last one, released by this.',
      }),
    ),
    webhook: optional(
      object(
        { secret: name({ description: 'A Secret in this namespace whose `token` the sender shares.' }) },
        { description: 'Lets the git server say that there is news.' },
      ),
    ),
  }),
  status: object({
    observedGeneration: optional(int()),
    conditions: Conditions,
    artifact: optional(
      object(
        {
          revision: text({ max: 512 }),
          commit: text({ max: 128, description: 'The commit, or the digest of chart or manifest.' }),
          digest: digest({ description: 'The list of its files.' }),
          files: int(),
          bytes: int({ description: 'The size of its files.' }),
          fetchedBytes: int({ description: 'What came over the wire for it.' }),
          fetchMs: int({ description: 'How long that took.' }),
          fetchedAt: time(),
          from: text({ max: 2048, description: 'The address that was contacted.' }),
          identity: digest({ description: 'What was followed; with another one any history may follow.' }),
          selection: digest({ description: 'Which part of it was taken.' }),
        },
        { description: 'What bundles read now; it stays until there is a newer good one.' },
      ),
    ),
    held: optional(
      object(
        { revision: text({ max: 512 }), accept: text({ max: 128 }), since: time() },
        { description: 'A revision that does not follow the last one; `spec.accept` releases it.' },
      ),
    ),
    hint: optional(text({ max: 128, description: 'The last request to ask now that was served.' })),
  }),
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Revision', type: 'string', jsonPath: '.status.artifact.revision' },
    { name: 'Files', type: 'integer', jsonPath: '.status.artifact.files', priority: 1 },
    { name: 'Bytes', type: 'integer', jsonPath: '.status.artifact.bytes', priority: 1 },
    AGE,
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'apps', namespace: 'default' },
      spec: {
        git: { url: 'https://git.example.com/platform/apps.git', ref: { branch: 'main' } },
        paths: ['stores'],
        credentials: 'git',
        interval: '1m',
      },
    },
  ],
})
export type Source = ObjectOfKind<typeof Source>
