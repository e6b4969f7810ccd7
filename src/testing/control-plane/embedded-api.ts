import { generateKeyPair, randomBytes } from '../../core/bytes.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import type { Handler } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { issueCertificate, selfSignedCa } from '../../core/crypto/x509.ts'
import type { CertificateAndKey } from '../../core/crypto/x509.ts'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { listenHttps } from '../../apiserver/http/https-listener.ts'
import type { ListenerLimits } from '../../apiserver/http/https-listener.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { Gadget } from '../api-contract/harness.ts'

/** An embedded API server behind a real HTTPS listener, with an administrator's certificate. */
export interface ApiHome {
  readonly url: string
  readonly ca: string
  readonly admin: CertificateAndKey
  /** A kubeconfig for the administrator. */
  readonly kubeconfig: string
  /** A client certificate for any user. */
  certificateFor(user: string, groups: readonly string[]): CertificateAndKey
  close(): Promise<void>
}

/** What a test wants otherwise. */
export interface ApiHomeOptions extends Partial<ListenerLimits> {
  /** Gives namespaces what the controller manager of Kubernetes gives them. */
  readonly namespaceDefaults?: boolean
  /** Stands before the API. */
  wrap?(handle: Handler): Handler
}

const DAY_MS = 86_400_000

/** Starts an embedded API server on a free port of the loopback interface. */
export async function startApiHome(
  store: Store = createMemoryStore(),
  { namespaceDefaults = false, wrap = (handle) => handle, ...limits }: ApiHomeOptions = {},
): Promise<ApiHome> {
  const now = Date.now()
  const validity = { notBefore: now - DAY_MS, notAfter: now + DAY_MS }
  const caKey = generateKeyPair('p256')
  const serial = () => randomBytes(16)
  const subject = (commonName: string, organizations: readonly string[] = []) => ({ commonName, organizations })
  const ca: CertificateAndKey = {
    certificate: selfSignedCa({
      subject: subject('test'),
      privateKey: caKey.privateKey,
      serial: serial(),
      ...validity,
    }),
    privateKey: caKey.privateKey,
  }
  const issue = (kind: 'server' | 'client', who: ReturnType<typeof subject>): CertificateAndKey => {
    const pair = generateKeyPair('p256')
    const certificate = issueCertificate({
      subject: who,
      publicKey: pair.publicKey,
      serial: serial(),
      kind,
      ...validity,
      ...(kind === 'server' ? { sans: ['127.0.0.1', 'localhost'] } : {}),
      issuer: ca,
    })
    return { certificate, privateKey: pair.privateKey }
  }
  const served = issue('server', subject('flotilla'))
  const api = createApiServer({
    store,
    clock: systemClock,
    ids: systemIds,
    kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS, Gadget],
    log: silentLogger,
    tokenKeys: [generateKeyPair('ed25519').privateKey],
    ...(namespaceDefaults ? { namespaceDefaults: { rootCa: ca.certificate } } : {}),
  })
  const listener = await listenHttps({
    handle: wrap(api.handle),
    authenticate: api.authenticate,
    log: silentLogger,
    clock: systemClock,
    host: '127.0.0.1',
    port: 0,
    cert: served.certificate,
    key: served.privateKey,
    clientCa: ca.certificate,
    limits,
  })
  const admin = issue('client', subject('admin', ['system:masters']))
  return {
    url: listener.url,
    ca: ca.certificate,
    admin,
    kubeconfig: kubeconfigOf(listener.url, ca.certificate, admin),
    certificateFor: (user, groups) => issue('client', subject(user, groups)),
    async close() {
      await listener.close()
      await api.close()
      await store.close()
    },
  }
}

/** The text of a kubeconfig with one context. */
export function kubeconfigOf(server: string, ca: string, client: CertificateAndKey): string {
  const data = (pem: string) => Buffer.from(pem).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'flotilla',
    contexts: [{ name: 'flotilla', context: { cluster: 'flotilla', user: 'admin' } }],
    clusters: [{ name: 'flotilla', cluster: { server, 'certificate-authority-data': data(ca) } }],
    users: [
      {
        name: 'admin',
        user: {
          'client-certificate-data': data(client.certificate),
          'client-key-data': data(client.privateKey),
        },
      },
    ],
  })
}
