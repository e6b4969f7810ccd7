// Tested by src/dialects/flux/docs-page.test.ts.
/**
 * All fields of Flux's GitRepository and Kustomization: their types, and how exactly they are supported. The schemas,
 * the findings and the tables in docs/dialects/flux.md are made from these tables.
 */
import { exact, near, refused, warned } from '../field-table.ts'
import type { Fields } from '../field-table.ts'
import { HEALTH_EXPRESSIONS, ignoreRules } from './rule-fields.ts'

const reference: Fields = { name: exact('text', '') }

const interval = (what: string) =>
  near('text', `${what} At least 5s; a failed fetch is tried again with a growing delay.`)

/** `spec` of a GitRepository. */
export const GIT_REPOSITORY: Fields = {
  url: exact('text', 'The Source `gitrepository-NAME` is made for it. All objects with this address share one poll.'),
  interval: interval('`interval` of the Source.'),
  timeout: exact('text', '`timeout` of the Source. Defaults to 60s.'),
  ref: exact(
    {
      branch: exact('text', 'Defaults to `master`, as in Flux.'),
      tag: exact('text', ''),
      semver: exact('text', ''),
      name: exact('text', 'Full name, for example `refs/pull/42/head`.'),
      commit: near('text', 'Not looked for on `branch`: the revision has the name of the branch, as in Flux.'),
    },
    'Of several fields, name wins over commit, tag, semver and branch, in this order.',
  ),
  secretRef: near(
    reference,
    'The Secret needs the annotation `flotilla.dev/urls` with the address that it may be sent to.',
  ),
  sparseCheckout: exact('texts', 'Only these directories are fetched and stored.'),
  ignore: exact('text', 'Together with `.sourceignore` files, as in Flux.'),
  include: near(
    {
      items: {
        repository: exact(reference, ''),
        fromPath: exact('text', ''),
        toPath: exact('text', ''),
      },
    },
    "Added when Kustomizations are built. The artifact's digest and size are those of the repository alone.",
  ),
  suspend: exact('flag', 'The Source is not fetched; Kustomizations keep what they have.'),
  provider: near(
    'text',
    '`generic`, or `github` for the keys of a GitHub App in the Secret. `aws` and `azure` are refused: clouds are not served.',
  ),
  verify: near(
    {
      mode: exact('text', '`HEAD`, `Tag` or `TagAndHEAD`.'),
      secretRef: near(
        reference,
        'A Secret with armored OpenPGP keys. Keys of SSH are not served: such a signature is refused.',
      ),
    },
    'New content is taken when its signatures are valid. A changed Secret counts for the next commit.',
  ),
  proxySecretRef: near(
    reference,
    'For addresses with `http` and `https`. The proxy must be allowed by `--source-hosts`.',
  ),
  recurseSubmodules: near(
    'flag',
    'The Secret is sent only to submodules at addresses of its annotation `flotilla.dev/urls`. At most 64 submodules, 5 deep.',
  ),
  serviceAccountName: refused('text', 'serviceAccountName is refused: it is for cloud providers, which are not served'),
  gitImplementation: warned('text', 'gitImplementation has no effect: it is a field of v1beta1 and v1beta2'),
  accessFrom: refused('map', 'accessFrom is refused: references to other namespaces are not served'),
}

const objectReference: Fields = {
  kind: exact('text', ''),
  name: exact('text', ''),
  namespace: exact('text', ''),
}

/** `spec` of a Kustomization. */
export const KUSTOMIZATION: Fields = {
  sourceRef: near(
    { apiVersion: exact('text', ''), ...objectReference },
    'A GitRepository, OCIRepository or Bucket of the same namespace. Another namespace is refused, as with `--no-cross-namespace-refs`.',
  ),
  path: exact('text', ''),
  interval: near('text', 'Agents correct drift at once, so nothing happens at the interval.'),
  retryInterval: warned('text', 'retryInterval has no effect: agents try again with a growing delay'),
  timeout: near('text', '`apply.timeout` of the Bundle. Defaults to `interval` less 30s, at least 30s.'),
  prune: near(
    'flag',
    'False keeps objects that leave the build. Namespaces, CustomResourceDefinitions and volumes are always kept. A change that drops more objects than the guard allows waits.',
  ),
  deletionPolicy: near('text', '`WaitForTermination` is the same as `Delete`.'),
  wait: exact('flag', 'True: all objects count for Ready. False: none does, unless there are `healthChecks`.'),
  healthChecks: near(
    { items: { apiVersion: exact('text', ''), ...objectReference } },
    'By the rules of kstatus. With an entry, all objects of the build count, as with `wait`.',
  ),
  healthCheckExprs: HEALTH_EXPRESSIONS,
  dependsOn: near(
    { items: { name: exact('text', ''), namespace: exact('text', ''), readyExpr: exact('text', '') } },
    'Judged for each cluster. `readyExpr` is judged once, on the hub.',
  ),
  serviceAccountName: near('text', '`executor` of the Bundle, in the namespace of this name in each cluster.'),
  kubeConfig: near(
    {
      secretRef: near({ name: exact('text', ''), key: near('text', 'Not looked at.') }, ''),
      configMapRef: refused(
        reference,
        'kubeConfig.configMapRef is refused: name the Secret of a registered cluster in kubeConfig.secretRef',
      ),
    },
    'Means the Cluster that is registered with this Secret. The hub does not read the Secret for it.',
  ),
  targetNamespace: exact('text', ''),
  namePrefix: exact('text', ''),
  nameSuffix: exact('text', ''),
  commonMetadata: exact({ labels: exact('textMap', ''), annotations: exact('textMap', '') }, ''),
  patches: exact('maps', ''),
  patchesStrategicMerge: refused(
    'maps',
    'patchesStrategicMerge is refused: it is a field of v1beta2; write it in spec.patches',
  ),
  patchesJson6902: refused('maps', 'patchesJson6902 is refused: it is a field of v1beta2; write it in spec.patches'),
  validation: warned('text', 'validation has no effect: the API server of the cluster validates all objects'),
  images: exact('maps', ''),
  components: exact('texts', ''),
  ignoreMissingComponents: exact('flag', ''),
  buildMetadata: exact('texts', ''),
  postBuild: near(
    {
      substitute: exact('textMap', ''),
      substituteFrom: near(
        { items: { kind: exact('text', ''), name: exact('text', ''), optional: exact('flag', '') } },
        'Read on the hub. A Secret needs the label `flotilla.dev/input: allowed`. Changes are seen within a minute.',
      ),
      substituteStrategy: exact('text', ''),
    },
    'Besides its own variables, `${CLUSTER_NAME}`, `${CLUSTER_ID}` and `${CLUSTER_LABEL_<key>}` are set for each cluster.',
  ),
  decryption: near(
    {
      provider: exact('text', '`sops`.'),
      secretRef: near(
        reference,
        'Keys `*.agekey` and `*.asc` are read on the hub, where the Secret needs the label `flotilla.dev/input: decryption`. With the annotation `flotilla.dev/decryption: Agent`, agents read keys `*.agekey` in their clusters.',
      ),
      serviceAccountName: refused(
        'text',
        'decryption.serviceAccountName is refused: it is for key services of clouds, which are not supported',
      ),
    },
    'Secrets alone are decrypted: only their values are sealed. A file whose MAC does not fit is refused, unless the object has the annotation `flotilla.dev/sops-mac: Ignore`.',
  ),
  force: exact('flag', '`apply.immutable: Recreate`.'),
  ignore: ignoreRules('ignore'),
  suspend: near('flag', 'No new content is delivered. Agents go on correcting drift, and Flux would not.'),
}
