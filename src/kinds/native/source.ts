import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { COMMIT_TEXTS } from '../fields/origin.ts'
import {
  Conditions,
  digest,
  duration,
  enumOf,
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

export const Source = defineKind({
  kind: 'Source',
  plural: 'sources',
  scope: 'Namespaced',
  shortNames: ['fsrc'],
  events: { warnWhenFalse: ['Released'], revision: ['artifact', 'revision'] },
  description:
    'Git repository, chart of a Helm repository, artifact of an OCI registry, or bucket from which content is fetched.',
  spec: object(
    {
      git: optional(
        object(
          {
            url: url(
              'URL of the repository: `https://…`, `ssh://…`, `user@host:path`, or a local path that the hub allows.',
            ),
            ref: optional(
              object(
                {
                  branch: optional(text({ max: 255, min: 1, pattern: REF, description: 'Name of a branch.' })),
                  tag: optional(text({ max: 255, min: 1, pattern: REF, description: 'Name of a tag.' })),
                  semver: optional(range('Version range. The newest matching tag is used, for example `>=1.2.0 <2`.')),
                  name: optional(
                    text({
                      max: 255,
                      min: 6,
                      pattern: '^refs/[A-Za-z0-9_.@+/=#-]+$',
                      description: 'Full name of a reference, for example `refs/pull/42/head`.',
                    }),
                  ),
                  commit: optional(
                    text({
                      max: 64,
                      min: 40,
                      pattern: '^([0-9a-f]{40}|[0-9a-f]{64})$',
                      description: 'Full hash of a commit.',
                    }),
                  ),
                },
                {
                  description:
                    'Reference to follow. Exactly one field must be set. If omitted, the default branch of the repository is followed.',
                },
              ),
            ),
            submodules: optional(
              enumOf(['Refuse', 'Ignore', 'Fetch'], {
                description:
                  'Treatment of submodules. `Refuse`: a selected submodule fails the fetch. `Ignore`: their directories are empty. `Fetch`: their files are fetched, too; the Secret of `credentials` is sent only to addresses that its annotation allows. Defaults to `Refuse`.',
              }),
            ),
            verify: optional(
              object(
                {
                  mode: enumOf(['Commit', 'Tag', 'TagAndCommit'], {
                    description: 'Objects that must be signed: the commit, the tag that `ref` selects, or both.',
                  }),
                  keys: name({
                    description:
                      'Name of a Secret in this namespace. Each value is a text with armored OpenPGP public keys.',
                  }),
                },
                { description: 'Signature that new content must have.' },
              ),
            ),
          },
          { description: 'Git repository.' },
        ),
      ),
      helm: optional(
        object(
          {
            url: url('URL of the repository that contains `index.yaml`. Without `chart`, URL of the archive.'),
            chart: optional(
              text({
                max: 253,
                min: 1,
                pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
                description:
                  'Name of the chart in the repository. If omitted, `url` is the archive of the chart, for example `https://…/web-1.0.0.tgz`.',
              }),
            ),
            version: optional(
              range(
                'Version range of `chart`. The newest matching version is used. If omitted, the newest stable version is used. Not used for an archive.',
              ),
            ),
            index: optional(
              flag({
                description:
                  'If true, only the index of the repository is read. The artifact is a list of the charts and their versions. Not together with `chart`. Defaults to false.',
              }),
            ),
            verify: optional(
              flag({
                default: false,
                description:
                  'If true, the chart must be signed with a key of `keyring` in the Secret of `credentials`. Defaults to false.',
              }),
            ),
          },
          { description: 'Chart of a Helm repository, or an archive of a chart.' },
        ),
      ),
      oci: optional(
        object(
          {
            url: url('URL of the repository without tag, for example `oci://registry.example.com/charts/web`.'),
            tag: optional(
              text({ max: 128, min: 1, pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]*$', description: 'Tag of the artifact.' }),
            ),
            semver: optional(range('Version range. The newest matching tag is used, for example `^1.2.0`.')),
            digest: optional(digest({ description: 'Digest of the manifest of the artifact.' })),
            mediaType: optional(
              text({
                max: 255,
                min: 1,
                pattern: '^[A-Za-z0-9][A-Za-z0-9.+/_-]*$',
                description:
                  'Media type of the layer to use, the first layer of this type. If omitted, all layers are used.',
              }),
            ),
            insecure: optional(
              flag({
                description:
                  'If true, the registry is contacted over HTTP, and no credentials are sent. Registries on loopback addresses are always contacted over HTTP. Defaults to false.',
              }),
            ),
          },
          { description: 'Chart or other artifact in an OCI registry.' },
        ),
      ),
      s3: optional(
        object(
          {
            url: url('URL of the server and the name of the bucket, for example `https://minio.example.com/apps`.'),
            prefix: optional(
              text({
                max: 1024,
                min: 1,
                pattern: '^[^/\\\\].*$',
                description: 'Beginning of the keys to fetch. The paths of the files are the whole keys.',
              }),
            ),
            region: optional(
              text({
                max: 63,
                min: 1,
                pattern: '^[A-Za-z0-9-]+$',
                description: 'Region of the bucket. Defaults to `us-east-1`.',
              }),
            ),
          },
          { description: 'Bucket of an S3 server. Without `credentials`, requests are not signed.' },
        ),
      ),
      inline: optional(
        object(
          {
            files: listOf(
              object({
                path: text({
                  max: 1024,
                  min: 1,
                  pattern: '^[^/\\\\].*$',
                  description: 'Path of the file, relative to the Source.',
                }),
                content: text({ max: 4_194_304, description: 'Content of the file.' }),
                encoding: optional(
                  enumOf(['Text', 'Gzip'], {
                    description:
                      'Encoding of `content`. `Text`: the content itself. `Gzip`: base64 of the content, compressed with gzip. Defaults to `Text`.',
                  }),
                ),
              }),
              { max: 10_000, min: 1, description: 'Files of the Source. All files together may unpack to 32 MiB.' },
            ),
          },
          {
            description:
              'Files that are written into the Source. A Project allows them with `inline` in its `sources`.',
          },
        ),
      ),
      paths: optional(
        listOf(path(), { max: 256, description: 'Files and directories to fetch. If omitted, all files are fetched.' }),
      ),
      ignore: optional(
        listOf(path(), {
          max: 256,
          description:
            'Files and directories to exclude. `*` matches a part of a name, `**` matches any number of directories.',
        }),
      ),
      credentials: optional(
        name({
          description:
            'Name of a Secret in this namespace with the credentials. The annotation `flotilla.dev/urls` of the Secret must contain the URL.',
        }),
      ),
      certificates: optional(
        name({
          description:
            'Name of a Secret in this namespace with `ca.crt`, or `tls.crt` and `tls.key`, for the connection. They replace those in the Secret of `credentials`. The annotation `flotilla.dev/urls` of the Secret must contain the URL.',
        }),
      ),
      proxy: optional(
        name({
          description:
            'Name of a Secret in this namespace with `address` (`http://…` or `https://…`), and optionally `username` and `password`, of a proxy. For git repositories over HTTP or HTTPS.',
        }),
      ),
      interval: optional(
        duration({
          default: '1m',
          description: 'Interval at which the hub checks for new content, at least `5s`. Defaults to `1m`.',
        }),
      ),
      timeout: optional(duration({ default: '1m', description: 'Maximum duration of one fetch. Defaults to `1m`.' })),
      suspend: optional(
        flag({
          default: false,
          description: 'If true, the hub does not fetch. Bundles keep using the last artifact. Defaults to false.',
        }),
      ),
      accept: optional(
        text({
          max: 128,
          description:
            'Commit, version or digest to accept although it does not descend from the last one. See `status.held`.',
        }),
      ),
      webhook: optional(
        object(
          {
            secret: name({
              description:
                'Name of a Secret in this namespace whose key `token` is shared with the sender. Without this key, the keys of Rancher Fleet count: `github`, `gitlab`, `gogs`, `bitbucket-server` or `azure-password`, as the sender requires.',
            }),
          },
          { description: 'Webhook with which the git server announces new content.' },
        ),
      ),
    },
    {
      description:
        'Address and options of the Source. Exactly one of `git`, `helm`, `oci`, `s3` and `inline` is required.',
    },
  ),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      conditions: Conditions,
      artifact: optional(
        object(
          {
            revision: text({ max: 512, description: 'Revision of the artifact, for example `main@sha1:8a1b2c3`.' }),
            commit: text({ max: 128, description: 'Hash of the commit, or digest of the chart or manifest.' }),
            digest: digest({ description: 'Digest of the list of files.' }),
            files: int({ description: 'Number of files.' }),
            bytes: int({ description: 'Total size of the files in bytes.' }),
            fetchedBytes: int({ description: 'Number of bytes that were transferred for the fetch.' }),
            fetchMs: int({ description: 'Duration of the fetch in milliseconds.' }),
            fetchedAt: time({ description: 'Time of the fetch.' }),
            from: text({ max: 2048, description: 'Address that was contacted.' }),
            verified: optional(
              text({
                max: 512,
                description: 'Signatures that were verified, for example `commit 8a1b2c3 with key 3299AEB0E4085BAF`.',
              }),
            ),
            ...COMMIT_TEXTS,
            identity: digest({
              description:
                'Digest of the address and reference. If it changes, the new content need not descend from the old content.',
            }),
            selection: digest({ description: 'Digest of `paths` and `ignore` that the files were selected with.' }),
          },
          { description: 'Artifact that Bundles use now. Kept until a newer fetch succeeds.' },
        ),
      ),
      held: optional(
        object(
          {
            revision: text({ max: 512, description: 'Revision that waits for `spec.accept`.' }),
            accept: text({ max: 128, description: 'Value for `spec.accept` that accepts the revision.' }),
            since: time({ description: 'Time at which the revision was found.' }),
          },
          { description: 'Revision that does not descend from the last one and waits for `spec.accept`.' },
        ),
      ),
      hint: optional(text({ max: 128, description: 'Last request for an immediate fetch that was served.' })),
    },
    { description: 'Observed state of the Source. Set by the hub.' },
  ),
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Revision', type: 'string', jsonPath: '.status.artifact.revision' },
    { name: 'Author', type: 'string', jsonPath: '.status.artifact.author', priority: 1 },
    { name: 'Subject', type: 'string', jsonPath: '.status.artifact.subject', priority: 1 },
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
