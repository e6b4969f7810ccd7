/** An agent that speaks the wire by hand: with its own keys, and with any field of any request replaced. */
import { utf8 } from '../../core/bytes.ts'
import type { KeyPair } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isObject } from '../../core/json.ts'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { createSigningRequest } from '../../core/crypto/x509.ts'
import { PAYLOAD, signEnvelope } from '../../wire/trust/envelope.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import type { EnrolRequest } from '../../wire/link/frames.ts'
import { signerOf } from '../../wire/trust/hub-keys.ts'
import { parseJoinCode } from '../../wire/trust/join-code.ts'
import { writePublicKey } from '../../wire/trust/trust-bundle.ts'
import type { TestHub } from '../hub/test-hub.ts'

/** How an enrolment differs from an honest one. */
export interface EnrolOverrides {
  readonly fields?: Partial<EnrolRequest>
  readonly signedBy?: KeyPair
  readonly address?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A hub as an applicant sees it: a test hub, or a process. */
export interface ApplicantHub {
  readonly ids: Pick<TestHub['ids'], 'fork'>
  readonly trust: { readonly root: { readonly keyId: Digest } }
  ask(
    method: string,
    path: string,
    by: Omit<EnrolOverrides, 'fields' | 'signedBy'> & { readonly body: Uint8Array },
  ): Promise<{ readonly status: number; readonly text: string }>
}

/** One applicant, the same for the same name. */
export function createApplicant(hub: ApplicantHub, name: string) {
  const newKeys = seededKeys(hub.ids.fork(name))
  const identity = newKeys('ed25519')
  const sealing = newKeys('x25519')
  const tls = newKeys('p256')

  async function enrol(code: string, { fields = {}, signedBy = identity, ...by }: EnrolOverrides = {}) {
    const request: EnrolRequest = {
      root: hub.trust.root.keyId,
      token: parseJoinCode(code).token,
      identityKey: writePublicKey(identity.publicKey),
      sealingKey: writePublicKey(sealing.publicKey),
      agentVersion: '0.1.0',
      ...fields,
    }
    const body = signEnvelope(signerOf(signedBy), PAYLOAD.enrol, utf8(JSON.stringify(request)))
    return answerOf(await hub.ask('POST', ROUTES.enrol, { body, ...by }))
  }

  async function renew(clusterId: string, csr = csrFor(clusterId)) {
    const request = { root: hub.trust.root.keyId, clusterId, csr, sealingKey: writePublicKey(sealing.publicKey) }
    const body = signEnvelope(signerOf(identity), PAYLOAD.renew, utf8(JSON.stringify(request)))
    return answerOf(await hub.ask('POST', ROUTES.renew, { body }))
  }

  /** Asks for the last document of a cluster. */
  async function last(clusterId: string) {
    const request = { root: hub.trust.root.keyId, clusterId }
    const body = signEnvelope(signerOf(identity), PAYLOAD.last, utf8(JSON.stringify(request)))
    return answerOf(await hub.ask('POST', ROUTES.last, { body }))
  }

  const csrFor = (commonName: string, organizations: string[] = []) =>
    createSigningRequest({ privateKey: tls.privateKey, subject: { commonName, organizations } })

  /** Enrols and takes the certificate that an accepted cluster gets. */
  async function join(code: string, overrides: EnrolOverrides = {}) {
    const { clusterId } = await enrol(code, overrides)
    const fields = { ...overrides.fields, clusterId, csr: csrFor(clusterId) }
    const { certificate } = await enrol(code, { ...overrides, fields })
    return { clusterId, certificate }
  }

  return { enrol, renew, last, csrFor, join, identity, tls }
}

function answerOf({ status, text }: { readonly status: number; readonly text: string }) {
  const value: unknown = JSON.parse(text)
  const field = (name: string) => {
    const found = isObject(value) ? value[name] : undefined
    return typeof found === 'string' ? found : ''
  }
  return {
    status,
    state: field('state'),
    clusterId: field('clusterId'),
    message: field('message'),
    certificate: field('certificate'),
  }
}
