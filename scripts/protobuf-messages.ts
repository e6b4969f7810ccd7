/**
 * Writes src/apiserver/protobuf/messages-table.ts from the Go types of Kubernetes: `node scripts/protobuf-messages.ts
 * MODULES`, where MODULES holds `api@VERSION`, `apimachinery@VERSION` and the other modules below as Go's module cache
 * does. Field numbers, names and pointers are all in the tags and types of the structs.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = 'v0.36.3'
const PACKAGES = [
  'core/v1',
  'apps/v1',
  'batch/v1',
  'autoscaling/v1',
  'autoscaling/v2',
  'policy/v1',
  'networking/v1',
  'rbac/v1',
  'scheduling/v1',
  'storage/v1',
  'coordination/v1',
  'discovery/v1',
  'events/v1',
  'certificates/v1',
  'admissionregistration/v1',
  'authentication/v1',
  'authorization/v1',
  'node/v1',
  'flowcontrol/v1',
  'resource/v1',
]
/** Packages that are in modules of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'apiextensions/v1': 'apiextensions-apiserver',
  'apiregistration/v1': 'kube-aggregator',
}
const GROUPS: Readonly<Record<string, string>> = {
  core: '',
  rbac: 'rbac.authorization.k8s.io',
  networking: 'networking.k8s.io',
  scheduling: 'scheduling.k8s.io',
  storage: 'storage.k8s.io',
  coordination: 'coordination.k8s.io',
  discovery: 'discovery.k8s.io',
  events: 'events.k8s.io',
  certificates: 'certificates.k8s.io',
  admissionregistration: 'admissionregistration.k8s.io',
  authentication: 'authentication.k8s.io',
  authorization: 'authorization.k8s.io',
  node: 'node.k8s.io',
  flowcontrol: 'flowcontrol.apiserver.k8s.io',
  resource: 'resource.k8s.io',
  apiextensions: 'apiextensions.k8s.io',
  apiregistration: 'apiregistration.k8s.io',
}
/** Types with a wire form of their own. */
const SPECIAL: Readonly<Record<string, string>> = {
  'meta.Time': 'time',
  'meta.MicroTime': 'microTime',
  'meta.Duration': 'duration',
  'meta.FieldsV1': 'json',
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'intOrString',
  'runtime.RawExtension': 'json',
  'types.UID': 'string',
  'types.NodeName': 'string',
  'types.NamespacedName': 'skip',
  'apiextensions.JSON': 'anyJson',
  'apiextensions.JSONSchemaPropsOrBool': 'schemaOrBool',
  'apiextensions.JSONSchemaPropsOrArray': 'schemaOrArray',
  'apiextensions.JSONSchemaPropsOrStringArray': 'schemaOrStrings',
}
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int: 'int',
  int32: 'int',
  int64: 'int',
  uint8: 'int',
  float64: 'double',
}
const OBJECT = /metav1\.TypeMeta `json:",inline"/

interface Package {
  /** How its messages begin: `core`, `autoscaling2`, `meta`. */
  readonly name: string
  readonly apiVersion: string
  /** What a name before a dot stands for in its files. */
  readonly imports: ReadonlyMap<string, string>
  readonly structs: ReadonlyMap<string, string>
  readonly aliases: ReadonlyMap<string, string>
}

const [modules = ''] = process.argv.slice(2)
const packages = new Map<string, Package>()
for (const path of [...PACKAGES, ...Object.keys(ELSEWHERE)]) {
  const [group = '', version = ''] = path.split('/')
  const name = version === 'v1' ? group : `${group}${version.slice(1)}`
  const known = GROUPS[group] ?? group
  const apiVersion = known === '' ? version : `${known}/${version}`
  const module = ELSEWHERE[path]
  const folder = module === undefined ? `api@${VERSION}/${path}` : `${module}@${VERSION}/pkg/apis/${path}`
  packages.set(name, readPackage(join(modules, folder), name, apiVersion))
}
packages.set(
  'meta',
  readPackage(join(modules, `apimachinery@${VERSION}`, 'pkg/apis/meta/v1'), 'meta', 'meta.k8s.io/v1'),
)

const kinds: string[] = []
const wanted = new Set<string>(['meta.DeleteOptions'])
for (const { name, apiVersion, structs } of packages.values()) {
  for (const [type, body] of structs) {
    if (name === 'meta' || !OBJECT.test(body) || !body.includes('metav1.ObjectMeta')) continue
    kinds.push(`${apiVersion}/${type} ${name}.${type}`)
    wanted.add(`${name}.${type}`)
  }
}
const lines: string[] = []
for (const message of wanted) lines.push(messageLine(message)) // grows while it is walked

writeFileSync(
  'src/apiserver/protobuf/messages-table.ts',
  `/** Written by scripts/protobuf-messages.ts from k8s.io/api ${VERSION}; how to read it: messages.ts. */

/** Every message: its name, then its fields with number, name and type. */
export const MESSAGE_LINES = \`
${lines.sort().join('\n')}
\`

/** The message of each \`apiVersion/Kind\`. */
export const KIND_LINES = \`
${kinds.sort().join('\n')}
\`
`,
)
process.stdout.write(`${kinds.length} kinds, ${lines.length} messages\n`)

function readPackage(folder: string, name: string, apiVersion: string): Package {
  const imports = new Map<string, string>()
  const structs = new Map<string, string>()
  const aliases = new Map<string, string>()
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.go') || file.endsWith('_test.go') || file.startsWith('zz_') || file === 'generated.pb.go')
      continue
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, alias = '', path = ''] of text.matchAll(/^\s+(\w+)?\s*"(k8s\.io\/[^"]+)"$/gm)) {
      const [, , ...rest] = path.split('/')
      const short = path.startsWith('k8s.io/api/') ? rest[0]! : path.endsWith('meta/v1') ? 'meta' : rest.at(-1)!
      imports.set(alias || rest.at(-1)!, short)
    }
    for (const [, type = '', body = ''] of text.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm))
      structs.set(type, body)
    for (const [, type = ''] of text.matchAll(/^type (\w+) struct ?\{\}$/gm)) structs.set(type, '')
    for (const [, type = '', target = ''] of text.matchAll(/^type (\w+) =? ?([\w.[\]*]+)$/gm)) aliases.set(type, target)
  }
  return { name, apiVersion, imports, structs, aliases }
}

function messageLine(message: string): string {
  const [packageName = '', type = ''] = message.split('.')
  const home = packages.get(packageName)
  const body = home?.structs.get(type)
  if (!home || body === undefined) throw new Error(`no struct ${message}`)
  const fields: string[] = []
  for (const line of body.split('\n')) {
    const match = /^\s+(?:\w+\s+)?([*[\]\w.]+)\s+`json:"([^"]*)".* ?protobuf:"\w+,(\d+),/.exec(line)
    if (!match) continue
    const [, goType = '', json = '', number = ''] = match
    const [name = '', ...flags] = json.split(',')
    if (flags.includes('inline')) {
      fields.push(`${number} . inline ${typeText(home, goType)}`)
      continue
    }
    const text = typeText(home, goType)
    const isScalar = !text.includes('.') && !text.includes(' ')
    // Zeros count for pointers, and where JSON writes them, too.
    const isKept = isScalar && (goType.startsWith('*') || !flags.includes('omitempty'))
    fields.push(`${number} ${name} ${isKept ? 'keep ' : ''}${text}`)
  }
  return `${message}: ${fields.join(', ')}`.trimEnd()
}

function typeText(home: Package, goType: string): string {
  if (goType.startsWith('*')) return typeText(home, goType.slice(1))
  if (goType === '[]byte') return 'bytes'
  if (goType.startsWith('[]')) return `list ${typeText(home, goType.slice(2))}`
  const map = /^map\[[\w.]+\](.+)$/.exec(goType)
  if (map) {
    const inner = typeText(home, map[1]!)
    return `map ${inner === 'list string' ? 'strings' : inner}`
  }
  const scalar = SCALARS[goType]
  if (scalar !== undefined) return scalar
  const [first = '', second] = goType.split('.')
  const owner = second === undefined ? home.name : home.imports.get(first)
  const type = second ?? first
  const qualified = `${owner}.${type}`
  const special = SPECIAL[qualified]
  if (special !== undefined) return special
  const source = packages.get(owner ?? '')
  if (!source) throw new Error(`${home.name} uses ${goType}, of a package that is not read`)
  const alias = source.aliases.get(type)
  if (alias !== undefined) return typeText(source, alias)
  wanted.add(qualified)
  return qualified
}
