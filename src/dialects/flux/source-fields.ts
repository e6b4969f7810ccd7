// Tested by src/dialects/flux/docs-page.test.ts.
/** All fields of Flux's HelmRepository, HelmChart and OCIRepository, and how exactly they are supported. */
import { exact, near, refused } from '../field-table.ts'
import type { Fields } from '../field-table.ts'

const reference: Fields = { name: exact('text', '') }

const interval = near(
  'text',
  '`interval` of the Source. At least 5s; a failed fetch is tried again with a growing delay. Defaults to 1m.',
)
const timeout = exact('text', '`timeout` of the Source. Defaults to 60s.')
const secretRef = near(
  reference,
  'The Secret needs the annotation `flotilla.dev/urls` with the address that it may be sent to.',
)
const certSecretRef = near(
  reference,
  'A Secret with `ca.crt`, or `tls.crt` and `tls.key`, and the annotation `flotilla.dev/urls`.',
)
const provider = exact('text', '`generic` only. Any other value is refused: clouds are not served.')
const suspend = exact('flag', 'The Source is not fetched; what uses it keeps what it has.')
const insecure = near('flag', 'The registry is contacted over HTTP. Not together with a Secret that has a password.')

/** `spec` of a HelmRepository. */
export const HELM_REPOSITORY: Fields = {
  url: exact('text', 'All objects with this address share one poll of the index.'),
  type: exact('text', '`default`, or `oci` for a registry, which is not polled and has no status, as in Flux.'),
  interval,
  timeout,
  secretRef,
  certSecretRef,
  passCredentials: near(
    'flag',
    'The annotation `flotilla.dev/urls` of the Secret decides: archives on another host get the credentials if it contains their address.',
  ),
  insecure,
  provider,
  suspend,
  accessFrom: refused('map', 'accessFrom is refused: references to other namespaces are not served'),
}

/** `spec` of a HelmChart. */
export const HELM_CHART: Fields = {
  chart: exact('text', 'Name in the HelmRepository, or directory in the GitRepository.'),
  version: exact('text', 'Range of versions of a HelmRepository. Defaults to `*`.'),
  sourceRef: near(
    { apiVersion: exact('text', ''), kind: exact('text', ''), name: exact('text', '') },
    'A HelmRepository or GitRepository of the same namespace.',
  ),
  interval,
  reconcileStrategy: near(
    'text',
    'For charts of a GitRepository, each commit that changes the chart counts, also with `ChartVersion`. With `Revision`, the version has the commit.',
  ),
  valuesFiles: exact('texts', 'Merged in order, instead of `values.yaml`. Relative to the source.'),
  ignoreMissingValuesFiles: exact('flag', ''),
  valuesFile: refused('text', 'valuesFile is refused: it is a field of v1beta2; write it in spec.valuesFiles'),
  verify: refused('map', 'verify is refused: signatures of cosign and notation are not checked'),
  suspend,
}

/** `spec` of a Bucket. */
export const BUCKET: Fields = {
  bucketName: exact('text', ''),
  endpoint: exact('text', 'Host and port. The Source `bucket-NAME` is made for `https://ENDPOINT/BUCKETNAME`.'),
  insecure: exact('flag', 'HTTP instead of HTTPS.'),
  region: exact('text', 'Defaults to `us-east-1`.'),
  prefix: exact('text', 'Only these keys are fetched. The files have the whole keys as paths.'),
  provider: near('text', '`generic`. Any other value is refused: identities of clouds are not served.'),
  interval,
  timeout,
  secretRef: near(
    reference,
    'A Secret with `accesskey` and `secretkey`, and the annotation `flotilla.dev/urls` with the address of the bucket. Without it, requests are not signed.',
  ),
  certSecretRef,
  ignore: exact('text', 'Together with the `.sourceignore` file at the root. There are no default patterns.'),
  suspend,
  sts: refused('map', 'sts is refused: use keys in secretRef'),
  proxySecretRef: refused(reference, 'proxySecretRef is refused: set the proxy of the hub instead'),
  serviceAccountName: refused('text', 'serviceAccountName is refused: identities of clouds are not served'),
  accessFrom: refused('map', 'accessFrom is refused: references to other namespaces are not served'),
}

/** `spec` of an OCIRepository. */
export const OCI_REPOSITORY: Fields = {
  url: exact('text', 'The Source `ocirepository-NAME` is made for it.'),
  ref: exact(
    {
      tag: exact('text', 'Defaults to `latest`.'),
      semver: exact('text', ''),
      semverFilter: refused('text', 'ref.semverFilter is refused: write the range in ref.semver'),
      digest: exact('text', ''),
    },
    'Of several fields, digest wins over semver and tag, in this order.',
  ),
  layerSelector: near(
    { mediaType: exact('text', ''), operation: near('text', 'An archive is always extracted.') },
    'The first layer of this type. Without it, all layers that are archives or files.',
  ),
  interval,
  timeout,
  secretRef,
  certSecretRef,
  insecure,
  ignore: exact('text', 'Together with `.sourceignore` files, as in Flux.'),
  provider,
  suspend,
  verify: refused('map', 'verify is refused: signatures of cosign and notation are not checked'),
  proxySecretRef: refused(reference, 'proxySecretRef is refused: set the proxy of the hub instead'),
  serviceAccountName: refused('text', 'serviceAccountName is refused: it is for pull secrets; use secretRef'),
}
