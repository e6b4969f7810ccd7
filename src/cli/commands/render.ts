/** `flotilla render`: the objects one cluster would get of a bundle, from files on this disk, and where each value came from. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { clientOver } from '../../client/create-client.ts'
import { generateTraditionalKey } from '../../core/bytes.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { systemClock } from '../../core/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { parseTime } from '../../core/time.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { Cluster } from '../../kinds/cluster.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { Override } from '../../kinds/override.ts'
import { clusterInputsOf } from '../../plan/variants.ts'
import type { BundleRecipe, InputSource } from '../../render/bundle/recipe.ts'
import { renderVariant } from '../../render/bundle/render-variant.ts'
import type { Variant } from '../../render/bundle/render-variant.ts'
import { describeProblems, objectIdentity } from '../../render/rendered.ts'
import { readYamlDocument } from '../../yaml/read.ts'
import { writeYaml } from '../../yaml/write.ts'
import type { Connection } from '../connect.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import { readObjects } from './apply.ts'

/** Flags of `render`. */
export interface RenderFlags {
  readonly filename?: readonly string[]
  readonly root?: string
  readonly bundle?: string
  readonly cluster?: string
  readonly label?: readonly string[]
  readonly kubeVersion?: string
  readonly explain?: boolean
  readonly output?: 'yaml' | 'json' | 'name'
}

/** What `render` works with. */
export interface RenderInput {
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly stdin: AsyncIterable<Uint8Array>
  /** Connects to the hub; only asked when a cluster is named that no file describes. */
  readonly connect: () => Promise<Pick<Connection, 'rest'>>
  readonly flags: RenderFlags
}

const MAX_FILES = 50_000
const MAX_BYTES = 256 * 1024 * 1024

/** Renders and prints. */
export async function render({ terminal, stdin, connect, flags }: RenderInput): Promise<void> {
  const given = (await readObjects(flags.filename ?? [], stdin)).map(({ object }) => object)
  const ofKind = <T>(kind: string): T[] => given.filter((object) => object.kind === kind) as unknown as T[]
  const bundle = chooseBundle(ofKind<Bundle>(Bundle.kind), flags.bundle)
  const cluster = await clusterFor(flags, ofKind<Cluster>(Cluster.kind), connect)
  const overrides = ofKind<Override>(Override.kind).filter(({ spec }) => spec.bundle === bundle.metadata.name)
  const variant = renderVariant(recipeFor(bundle, overrides, given), cluster, {
    files: bundle.spec.source ? readRoot(flags.root ?? '.') : new Map(),
    entropy: { randomBytes: systemIds.bytes, now: () => systemClock.now(), generateKey: generateTraditionalKey },
    frozen: {},
  })
  if (flags.explain) explain(variant, cluster, terminal)
  const { result } = variant
  if (result.ok === 'skip') {
    terminal.say(`cluster ${cluster.name} gets nothing of ${bundle.metadata.name}: ${result.by} says so`)
    return
  }
  if (!result.ok) {
    throw new CliError(EXIT.failed, {
      what: `bundle ${bundle.metadata.name} cannot be rendered for cluster ${cluster.name}`,
      why: describeProblems(result.problems),
    })
  }
  print(result.objects, flags.output ?? 'yaml', terminal)
}

function print(objects: readonly UnknownObject[], output: string, terminal: Pick<Terminal, 'data'>): void {
  const sorted = objects.toSorted((a, b) => (objectIdentity(a) < objectIdentity(b) ? -1 : 1))
  if (output === 'json')
    return terminal.data(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: sorted }, undefined, 2)}\n`)
  if (output === 'name') return terminal.data(sorted.map((object) => `${objectIdentity(object)}\n`).join(''))
  terminal.data(sorted.map((object) => `---\n${writeYaml(object)}`).join(''))
}

function chooseBundle(bundles: readonly Bundle[], name: string | undefined): Bundle {
  const found = bundles.filter(({ metadata }) => name === undefined || metadata.name === name)
  if (found.length === 1) return found[0]!
  const names = bundles.map(({ metadata }) => metadata.name).join(', ')
  throw new CliError(EXIT.usage, {
    what: found.length === 0 ? 'the files hold no such Bundle' : 'the files hold several Bundles',
    why: names === '' ? 'there is none in them' : `they hold ${names}`,
    todo: 'give -f FILE with a Bundle, and --bundle NAME where there are several',
  })
}

async function clusterFor(
  flags: RenderFlags,
  clusters: readonly Cluster[],
  connect: RenderInput['connect'],
): Promise<ClusterInputs> {
  const labels = Object.fromEntries((flags.label ?? []).map(pairOf))
  const base = { annotations: {}, claims: {}, values: {}, labels: {}, name: flags.cluster ?? 'example' }
  const known = clusters.find(({ metadata }) => metadata.name === flags.cluster)
  let inputs: ClusterInputs = base
  if (known) inputs = clusterInputsOf(known)
  else if (flags.cluster !== undefined && flags.label === undefined) {
    inputs = clusterInputsOf(await clientOver((await connect()).rest).get(Cluster, { name: flags.cluster }))
  }
  const kubeVersion = flags.kubeVersion ?? inputs.kubeVersion
  return { ...inputs, labels: { ...inputs.labels, ...labels }, ...(kubeVersion === undefined ? {} : { kubeVersion }) }
}

function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=')
  if (equals <= 0) throw new CliError(EXIT.usage, { what: `--label wants KEY=VALUE, not ${JSON.stringify(text)}` })
  return [text.slice(0, equals), text.slice(equals + 1)]
}

function recipeFor(bundle: Bundle, overrides: readonly Override[], given: readonly UnknownObject[]): BundleRecipe {
  const { source, manifests, templating, secrets, variantMode, inputs, rollout: _rollout, ...spec } = bundle.spec
  const now = systemClock.now()
  return {
    ...spec,
    bundle: `${bundle.metadata.namespace ?? 'default'}/${bundle.metadata.name}`,
    manifests,
    path: source?.path,
    ignore: source?.ignore,
    templating: templating === 'Enabled',
    allowSecrets: secrets === 'Allow',
    firstVariantOnly: variantMode === 'First',
    overrides: overrides
      .filter(({ spec: { expiresAt } }) => expiresAt === undefined || (parseTime(expiresAt) ?? 0) > now)
      .map(({ metadata, spec: layer }) => ({ ...layer, name: metadata.name })),
    inputs: Object.fromEntries((inputs ?? []).map((input) => [input.name, inputOf(input, given)])),
  }
}

function inputOf(input: NonNullable<Bundle['spec']['inputs']>[number], given: readonly UnknownObject[]): InputSource {
  if (input.table) return { table: input.table.file, key: input.table.key }
  if (input.file !== undefined) return { file: input.file }
  const found = given.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === input.configMap?.name)
  const data = found?.['data'] as Record<string, string> | undefined
  const text = data?.[input.configMap?.key ?? '']
  if (text === undefined) {
    throw new CliError(EXIT.usage, {
      what: `input ${input.name} comes from ConfigMap ${input.configMap?.name ?? ''}, which is not in the files`,
      todo: 'give it with another -f FILE',
    })
  }
  return { value: readYamlDocument(text, { resolver: '1.1' }).value }
}

/** The files below a directory, as an artifact would have them. */
function readRoot(root: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  let bytes = 0
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder)).sort()) {
      if (entry === '.git') continue
      const path = folder === '' ? entry : `${folder}/${entry}`
      const found = statSync(join(root, path), { throwIfNoEntry: false })
      if (found?.isDirectory()) walk(path)
      else if (found?.isFile()) {
        bytes += found.size
        if (files.size >= MAX_FILES || bytes > MAX_BYTES) {
          throw new CliError(EXIT.usage, {
            what: `${root} is larger than a repository may be`,
            todo: 'give --root DIR',
          })
        }
        files.set(path, readFileSync(join(root, path)))
      }
    }
  }
  walk('')
  return files
}

function explain(variant: Variant, cluster: ClusterInputs, terminal: Pick<Terminal, 'say'>): void {
  const { origins, reads, style } = variant
  terminal.say(`cluster ${cluster.name}${style === undefined ? '' : `, style ${style}`}`)
  for (const [path, layer] of [...origins].sort(([a], [b]) => (a < b ? -1 : 1)))
    terminal.say(`  value ${path}: from ${layer}`)
  for (const [path, value] of Object.entries(reads)) terminal.say(`  read ${path}: ${value ?? '(not there)'}`)
  if (Object.keys(reads).length === 0) terminal.say('  nothing of the cluster was read: every cluster gets the same')
}
