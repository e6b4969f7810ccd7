// Tested by scripts/images/images.contract.test.ts.
// Signatures of images in the form that `cosign verify --key` reads: a payload that names the digest, and a signature.
import { createPrivateKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { MEDIA } from './oci.ts'
import type { Descriptor, Layout, Manifest } from './oci.ts'

const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json'
export const SIGNATURE_ANNOTATION = 'dev.cosignproject.cosign/signature'

/** Reads a private key in PEM: ECDSA P-256, RSA or Ed25519. */
export function readSigningKey(file: string): KeyObject {
  const key = createPrivateKey(readFileSync(file))
  const type = key.asymmetricKeyType
  const isKnown = type === 'rsa' || type === 'ed25519' || key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
  if (!isKnown) throw new Error(`${file}: a key of type ${type} cannot sign images; use ECDSA P-256, RSA or Ed25519`)
  return key
}

/** Adds the signature of a manifest or index to the layout, under the tag that verifiers look for. */
export function addSignature(layout: Layout, repository: string, signed: Descriptor, key: KeyObject): void {
  const payload = Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': repository },
        image: { 'docker-manifest-digest': signed.digest },
        type: 'cosign container image signature',
      },
      optional: {},
    }),
  )
  const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', payload, key)
  const layer = {
    ...layout.blob(payload, SIMPLE_SIGNING),
    annotations: { [SIGNATURE_ANNOTATION]: signature.toString('base64') },
  }
  const config = {
    architecture: '',
    os: '',
    created: '1970-01-01T00:00:00Z',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
    history: [{ created: '1970-01-01T00:00:00Z' }],
  }
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: layout.json(config, MEDIA.config),
    layers: [layer],
  }
  const tag = `${signed.digest.replace(':', '-')}.sig`
  layout.name(layout.json(manifest, MEDIA.manifest), `${repository}:${tag}`)
}
