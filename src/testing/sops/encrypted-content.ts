/** Content of Kustomizations whose files SOPS encrypted for keys of the cluster, as the hub prepares it. */
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { buildForCluster } from '../../dialects/flux/build/flux-builder.ts'
import type { Builder } from '../../render/bundle/builder.ts'
import type { PreparedContent } from '../../render/bundle/prepare-content.ts'
import { renderVariant } from '../../render/bundle/render-variant.ts'
import type { VariantResult } from '../../render/bundle/render-variant.ts'
import { NO_ENTROPY } from '../fixtures/rancher-fleet/repository.ts'

const CLUSTER = { name: 'store-1', labels: {}, annotations: {}, claims: {}, values: {} }

/** The result on the hub, which has no keys. */
export function renderEncrypted(
  files: Readonly<Record<string, string>>,
  { mac, builder = buildForCluster }: { readonly mac?: 'Ignore' | undefined; readonly builder?: Builder } = {},
): VariantResult {
  const options = { name: 'app', namespace: 'default', spec: { targetNamespace: 'default' } }
  const secret = compact({ namespace: 'default', secret: 'sops-keys', checkMac: mac !== 'Ignore' })
  const recipe = { bundle: 'default/app', builder: { name: 'flux', options }, decryptInCluster: secret }
  return renderVariant(recipe, CLUSTER, {
    files: new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)])),
    builders: { flux: builder },
    entropy: NO_ENTROPY,
    frozen: {},
  }).result
}

/** What the hub delivers of it. */
export function encryptedContent(...about: Parameters<typeof renderEncrypted>): PreparedContent {
  const result = renderEncrypted(...about)
  if (result.ok !== 'prepared') throw new Error(`not prepared: ${JSON.stringify(result)}`)
  return result
}
