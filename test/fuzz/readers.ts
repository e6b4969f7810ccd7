/**
 * Every reader of foreign bytes with a corpus of good inputs. A reader answers, or throws an error that is meant for the
 * author of the input; any other error, and a reader that does not return, is a defect.
 */
import { gzipSync } from 'node:zlib'
import { celEnvironment, compileCel } from '../../src/cel/cel.ts'
import { generateKeyPair, utf8 } from '../../src/core/bytes.ts'
import { DerError } from '../../src/core/crypto/der.ts'
import { fromPem } from '../../src/core/crypto/pem.ts'
import {
  createSigningRequest,
  parseCertificate,
  parseSigningRequest,
  selfSignedCa,
} from '../../src/core/crypto/x509.ts'
import { ApiError } from '../../src/core/errors.ts'
import { createTar, tarEntries, TarError } from '../../src/core/tar.ts'
import { parseNetwork } from '../../src/core/text/cidr.ts'
import { matchesGlob, matchesStars } from '../../src/core/text/glob.ts'
import { parseSelector } from '../../src/core/text/label-selector.ts'
import { parseQuantity } from '../../src/core/text/quantity.ts'
import { parseVersion, satisfies, VersionError } from '../../src/core/text/semver.ts'
import { decodeBody } from '../../src/apiserver/http/decode-body.ts'
import { readKubeconfig, KubeconfigError } from '../../src/client/kubeconfig.ts'
import { SourceError } from '../../src/source/source-error.ts'
import { ALL_SCHEMES, parseSourceUrl } from '../../src/source/source-url.ts'
import { extractFiles } from '../../src/source/untar.ts'
import { decodePack, encodePack, openPack } from '../../src/wire/document/pack.ts'
import { readTrustedDocument } from '../../src/wire/document/signed-document.ts'
import { CheckIn, parseFrame, Report } from '../../src/wire/link/frames.ts'
import { LIMITS } from '../../src/wire/limits.ts'
import { unverifiedPayload } from '../../src/wire/trust/envelope.ts'
import { formatJoinCode, parseJoinCode } from '../../src/wire/trust/join-code.ts'
import { parseJson, WireError } from '../../src/wire/validate.ts'
import { readYaml } from '../../src/yaml/read/read-yaml.ts'
import { YamlError } from '../../src/yaml/yaml.ts'

/** A reader of foreign bytes. */
export interface Reader {
  readonly corpus: readonly (string | Uint8Array)[]
  read(bytes: Uint8Array): unknown
  /** The errors that are meant for the author of the input. */
  readonly refusals: readonly (new (...args: never[]) => Error)[]
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

const key = generateKeyPair('p256')
const subject = { commonName: 'c-1', organizations: [] }
const CSR = createSigningRequest({ privateKey: key.privateKey, subject })
const DAY_MS = 86_400_000
const CERTIFICATE = selfSignedCa({
  subject,
  privateKey: key.privateKey,
  serial: new Uint8Array(16).fill(7),
  notBefore: 0,
  notAfter: DAY_MS,
})
const TAR = createTar([
  { name: 'web/Chart.yaml', data: utf8('name: web\nversion: 1.0.0\n') },
  { name: `web/${'deep/'.repeat(40)}a.yaml`, data: utf8('a: 1\n') },
])
const YAML = [
  'a: &x {b: [1, 2], c: "d"}\ne: *x\n---\n- |\n  text\n- >-\n  folded\n',
  '? {a: b}\n: !!binary aGk=\n<<: {x: 1}\n',
  'a: 0x1f\nb: 1e3\nc: .nan\nd: 2001-01-01\ne: "\\u0041\\x41"\n',
]
const OBJECT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', labels: { a: 'b' }, annotations: { 'a.b/c': 'd' } },
  data: { a: 'b' },
}
const REPORT = { epoch: 1, revision: 7, agentVersion: '0.1.0', kubernetesVersion: 'v1.36.0', bundles: [] }
const PACK = encodePack({
  header: { from: 0, to: 2, total: 2 } as never,
  manifest: utf8('{}'),
  objects: [utf8('{"a":1}'), utf8('{"b":2}')],
  dictionary: [],
})
const CODE = formatJoinCode({
  endpoints: ['https://hub:7444'],
  root: `sha256:${'a'.repeat(64)}`,
  token: { name: 'x', secret: 's'.repeat(43) },
})
const CEL = celEnvironment({ variables: {} } as never)

export const READERS: Readonly<Record<string, Reader>> = {
  tar: { corpus: [TAR], read: (bytes) => [...tarEntries(bytes)], refusals: [TarError] },
  gzip: {
    corpus: [gzipSync(TAR), TAR],
    read: (bytes) => extractFiles(bytes, { name: 'web.tgz', stripFirst: true }),
    refusals: [SourceError],
  },
  PEM: { corpus: [CSR, CERTIFICATE], read: (bytes) => fromPem('CERTIFICATE', text(bytes)), refusals: [DerError] },
  CSR: { corpus: [CSR], read: (bytes) => parseSigningRequest(text(bytes)), refusals: [DerError] },
  'DER of a CSR': {
    corpus: fromPem('CERTIFICATE REQUEST', CSR),
    read: (bytes) => parseSigningRequest(pemOf('CERTIFICATE REQUEST', bytes)),
    refusals: [DerError],
  },
  'DER of a certificate': {
    corpus: fromPem('CERTIFICATE', CERTIFICATE),
    read: (bytes) => parseCertificate(pemOf('CERTIFICATE', bytes)),
    refusals: [DerError],
  },
  YAML: {
    corpus: YAML,
    read: (bytes) => readYaml(bytes, { limits: { maxNodes: 100_000 } }),
    refusals: [YamlError],
  },
  'JSON of a request': {
    corpus: [JSON.stringify(OBJECT)],
    read: (body) => decodeBody({ method: 'POST', path: '/', headers: {}, body }, 'application/json'),
    refusals: [ApiError],
  },
  'YAML of a request': {
    corpus: YAML,
    read: (body) => decodeBody({ method: 'POST', path: '/', headers: {}, body }, 'application/yaml'),
    refusals: [ApiError],
  },
  selectors: {
    corpus: ['a=b,c!=d,e in (x,y),f,!g', 'app.kubernetes.io/name notin (a)'],
    read: (bytes) => parseSelector(text(bytes)),
    refusals: [ApiError],
  },
  globs: {
    corpus: ['*a*a*a*b|aaaaaaaaaaaaaaaaaaaaaaaa', 'a?c|abc'],
    read: (bytes) => {
      const [pattern = '', name = ''] = text(bytes).split('|')
      return [matchesGlob(pattern, name), matchesStars(pattern, name)]
    },
    refusals: [],
  },
  versions: {
    corpus: ['1.2.3-rc.1+build|>=1.2.0 <2.0.0 || ~1.2', '1.0.0|^1.x'],
    read: (bytes) => {
      const [version = '', range = ''] = text(bytes).split('|')
      return satisfies(parseVersion(version), range, 'group')
    },
    refusals: [VersionError],
  },
  quantities: { corpus: ['1.5Gi', '100m', '1e3'], read: (bytes) => parseQuantity(text(bytes)), refusals: [] },
  networks: { corpus: ['10.0.0.0/8', '2001:db8::/32'], read: (bytes) => parseNetwork(text(bytes)), refusals: [] },
  CEL: {
    corpus: ['[1, 2].all(x, x > 0) && "a".matches("(a+)+$")', 'has({"a": 1}.a) ? size("x") : int("1")'],
    read: (bytes) => {
      const program = compileCel(text(bytes), CEL)
      return 'evaluate' in program ? program.evaluate({}, 100_000) : program
    },
    refusals: [],
  },
  addresses: {
    corpus: ['https://git.example:8443/a/b.git', 'git@git.example:a/b.git', 'oci://r.example/a'],
    read: (bytes) => parseSourceUrl(text(bytes), ALL_SCHEMES),
    refusals: [SourceError],
  },
  kubeconfig: {
    corpus: [
      'apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: "https://a:1"}}]\n' +
        'users: [{name: a, user: {token: x}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n',
    ],
    read: async (bytes) =>
      await readKubeconfig({
        text: text(bytes),
        file: 'f',
        readFile: () => Promise.reject(new KubeconfigError('none')),
      }),
    refusals: [KubeconfigError, YamlError],
  },
  packs: { corpus: [PACK], read: (bytes) => decodePack(openPack(bytes), { dictionary: [] }), refusals: [WireError] },
  envelopes: {
    corpus: ['{"payload":"e30","payloadType":"x","signatures":[{"keyid":"a","sig":"b"}]}'],
    read: (bytes) => [readTrustedDocument(bytes), unverifiedPayload(bytes)],
    refusals: [WireError],
  },
  frames: {
    corpus: ['{"type":"beat"}', '{"type":"head","epoch":1,"revision":2,"document":"sha256:00"}'],
    read: (bytes) => parseFrame(text(bytes)),
    refusals: [WireError],
  },
  reports: {
    corpus: [JSON.stringify(REPORT)],
    read: (bytes) => [
      parseJson(Report, bytes, { what: 'report', maxBytes: LIMITS.reportBytes }),
      parseJson(CheckIn, bytes, { what: 'check-in', maxBytes: LIMITS.requestBytes }),
    ],
    refusals: [WireError],
  },
  'join codes': { corpus: [CODE], read: (bytes) => parseJoinCode(text(bytes)), refusals: [WireError] },
}

function pemOf(label: string, der: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`
}
