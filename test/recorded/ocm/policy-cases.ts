/** Recorded runs of Open Cluster Management's policy commands, answered by the product's functions. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { isObject, jsonEqual } from '../../../src/core/json.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { readYaml } from '../../../src/yaml/read/read-yaml.ts'
import { YamlError } from '../../../src/yaml/yaml.ts'
import { memoryObjects } from '../../../src/render/policy-template/memory-objects.ts'
import type { MemoryKind } from '../../../src/render/policy-template/memory-objects.ts'
import { hubNamespaceOf, readDocument, resolveDocument } from '../../../src/render/policy-template/policy-document.ts'
import type { DocumentSetting } from '../../../src/render/policy-template/policy-document.ts'
import { lintPolicy, printFindings } from '../../../src/render/policy-template/lint/lint-policy.ts'
import { PolicyTemplateError } from '../../../src/render/policy-template/resolve-template.ts'
import type { Entropy } from '../../../src/render/helm/frozen-random.ts'
import { goValue } from '../../../src/plan/policy/go-value.ts'
import type { GoObject } from '../../../src/plan/policy/go-value.ts'
import { dryRun, DryRunError } from '../../../src/dialects/ocm/policy/dry-run.ts'
import {
  EmptyListError,
  painter,
  printComparison,
  printDiffs,
} from '../../../src/dialects/ocm/policy/dry-run-output.ts'
import type { RecordedCase } from '../recorded-case.ts'

/** How a command ended. */
export interface Ended {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

interface World {
  readonly resources: readonly MemoryKind[]
  readonly hub: readonly JsonObject[]
  readonly spoke: readonly JsonObject[]
}

const WORLD = JSON.parse(
  gunzipSync(readFileSync(new URL('policy-template.world.json.gz', import.meta.url))).toString(),
) as World

/** A fixed time and fixed random bytes: the recorded cases that show either are not compared. */
export const ENTROPY: Entropy = {
  randomBytes: (length) => new Uint8Array(length),
  now: () => Date.parse('2026-01-02T03:04:05Z'),
  generateKey: (type) => `-----BEGIN ${type}-----`,
}

interface CommandCase {
  readonly args: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** `flotilla policy template ARGS` in a directory with the files of the case. */
export function templateAnswer(input: RecordedCase): Ended {
  const { args, files, stdin } = input as unknown as CommandCase
  const { words, flags } = parse(args, ['skip-policy-validation'])
  const isLint = words[0] === 'lint'
  const names = isLint ? words.slice(1) : words
  if (names.length > 1) return failed(1, `Error: accepts at most 1 arg(s), received ${names.length}\n`)
  const text = names[0] === undefined || names[0] === '-' ? (stdin ?? '') : files[names[0]]!
  if (isLint) {
    const findings = lintPolicy(text)
    if (findings.length === 0) return { exit: 0, stdout: '', stderr: '' }
    const exit = findings.some(({ level }) => level === 'error') ? 2 : 3
    return { exit, stdout: printFindings(findings), stderr: '' }
  }
  try {
    return { exit: 0, stdout: resolveDocument(text, settingOf(text, flags, files)), stderr: '' }
  } catch (caught) {
    if (!(caught instanceof PolicyTemplateError)) throw caught
    return failed(2, `error processing templates: ${caught.message}\n`)
  }
}

function settingOf(
  text: string,
  flags: ReadonlyMap<string, string>,
  files: Readonly<Record<string, string>>,
): DocumentSetting {
  const objects = memoryObjects(WORLD.resources, WORLD.spoke)
  const local = flags.get('local-resources')
  const base: DocumentSetting = {
    objects,
    entropy: ENTROPY,
    objectName: flags.get('object-name') ?? '',
    objectNamespace: flags.get('object-namespace') ?? '',
    skipValidation: flags.has('skip-policy-validation'),
    ...(local !== undefined && { local: readYaml(files[local]!).map(({ value }) => value as JsonObject) }),
  }
  if (!flags.has('hub-kubeconfig')) return base
  const clusterName = flags.get('cluster-name') ?? ''
  const hub = memoryObjects(WORLD.resources, WORLD.hub)
  const managedCluster = hub.get({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    namespace: '',
    name: clusterName,
  })
  const namespace = hubNamespaceOf(readDocument(text), flags.get('hub-namespace') ?? '')
  return { ...base, hub: { objects: hub, clusterName, namespace, managedCluster: managedCluster! } }
}

function failed(exit: number, stderr: string): Ended {
  return { exit, stdout: '', stderr }
}

/** Words and flags of a command line; flags of `alone` take no value. */
export function parse(
  args: readonly string[],
  alone: readonly string[],
): { readonly words: string[]; readonly flags: Map<string, string> } {
  const words: string[] = []
  const flags = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    const name = arg.replace(/^-+/, '')
    if (!arg.startsWith('-') || arg === '-') words.push(arg)
    else if (name.includes('=')) flags.set(name.slice(0, name.indexOf('=')), name.slice(name.indexOf('=') + 1))
    else if (alone.includes(name)) flags.set(name, 'true')
    else flags.set(name, args[++at] ?? '')
  }
  return { words, flags }
}

/** Whether a run of `policy template` ended as recorded; what stands before the last error does not count. */
export function isSameTemplate(answer: Ended, one: RecordedCase): boolean {
  const expect = one.expect as Ended
  const lastError = (text: string): string =>
    text.slice(Math.max(0, text.lastIndexOf('error processing templates: '), text.lastIndexOf('Error: ')))
  return (
    answer.exit === expect.exit &&
    answer.stdout === expect.stdout &&
    lastError(answer.stderr) === lastError(expect.stderr)
  )
}

/** How a dry run ended. */
export interface DryRunEnded extends Ended {
  readonly status?: unknown
  readonly messages?: string
}

const DRY_RUN_FLAGS = ['no-colors', 'full-diffs', 'print-diffs']

/** `flotilla policy dryrun ARGS` in a directory with the files of the case. */
export function dryRunAnswer(input: RecordedCase): DryRunEnded {
  const { args, files, stdin } = input as unknown as CommandCase
  const { words, flags } = parse(args, DRY_RUN_FLAGS)
  const unknown = [...flags.keys()].find((name) => !KNOWN_FLAGS.has(name))
  if (unknown !== undefined) return failed(1, `Error: unknown flag: --${unknown}\n`)
  const read = (name: string): string => {
    const text = files[name]
    if (text === undefined) throw new DryRunError(`open ${name}: no such file or directory`)
    return text
  }
  const paints = painter(!flags.has('no-colors'))
  const inputs = [...(stdin === undefined ? [] : ['-']), ...words].map((name) =>
    name === '-' ? { name: 'stdin', text: stdin ?? '' } : { name: `file ${name}`, text: read(name) },
  )
  const mappings = flags.get('mappings-file')
  try {
    const result = dryRun({
      policy: read(flags.get('p') ?? flags.get('policy') ?? ''),
      objects: inputs,
      ...(mappings !== undefined && { mappings: read(mappings) }),
      entropy: ENTROPY,
    })
    let stdout = 'Ignoring additional ConfigurationPolicy in input policy\n'.repeat(result.ignored)
    const wanted = flags.get('desired-status') ?? flags.get('c')
    if (wanted !== undefined) {
      const text = readDesired(read, wanted)
      stdout += `${printComparison(text, result.status, paints)}\n`
    }
    if (flags.get('print-diffs') !== 'false') stdout += printDiffs(result.status, paints)
    const messages = result.messages.map((message) => `${message}\n`).join('')
    const isSaved = flags.has('messages-path')
    if (!isSaved) stdout += `# Compliance messages:\n${messages}`
    const isCompliant = result.status.compliant === 'Compliant'
    return {
      exit: isCompliant ? 0 : 2,
      stdout,
      stderr: isCompliant ? '' : 'Error: policy is NonCompliant\n',
      ...(flags.has('status-path') && { status: JSON.parse(JSON.stringify(result.status)) as unknown }),
      ...(isSaved && { messages }),
    }
  } catch (caught) {
    if (caught instanceof EmptyListError)
      return failed(1, `Error: unable to compare desired status: ${caught.message}\n`)
    if (!(caught instanceof DryRunError)) throw caught
    return failed(1, `Error: ${caught.message}\n`)
  }
}

const KNOWN_FLAGS: ReadonlySet<string> = new Set([
  'p',
  'policy',
  'c',
  'desired-status',
  'status-path',
  'messages-path',
  'mappings-file',
  ...DRY_RUN_FLAGS,
])

function readDesired(read: (name: string) => string, name: string): GoObject {
  try {
    return goValue(readYaml(read(name), { resolver: '1.2' })[0]?.value ?? {}) as GoObject
  } catch (caught) {
    const message = caught instanceof YamlError ? caught.goMessage : (caught as Error).message
    throw new DryRunError(`unable to compare desired status: ${message}`)
  }
}

const TIMES: ReadonlySet<string> = new Set(['lastEvaluated', 'lastTransitionTime', 'lastTimestamp'])

/** A status without its times, and with the time of the evaluation in texts as it was recorded. */
function timeless(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('2026-01-02T03:04:05Z', '<time>')
  if (Array.isArray(value)) return value.map(timeless)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !TIMES.has(key))
      .map(([key, item]) => [key, timeless(item)]),
  )
}

/** Whether a dry run ended as recorded; a run that crashed only has to fail with a sentence. */
export function isSameDryRun(answer: DryRunEnded, one: RecordedCase): boolean {
  if (one['crash']) return answer.exit !== 0 && answer.stderr !== ''
  const lastError = (text: string): string => text.slice(Math.max(0, text.lastIndexOf('Error: ')))
  return [one.expect, ...((one['variants'] ?? []) as unknown[])].some((recorded) => {
    const expect = recorded as DryRunEnded
    return (
      answer.exit === expect.exit &&
      timeless(answer.stdout) === expect.stdout &&
      lastError(answer.stderr) === lastError(expect.stderr) &&
      (expect.status === undefined || jsonEqual(timeless(answer.status), timeless(expect.status))) &&
      (expect.messages === undefined || timeless(answer.messages) === expect.messages)
    )
  })
}
