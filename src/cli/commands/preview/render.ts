/** `flotilla render`: renders a Bundle for a cluster from local files, with the origin of each value. */
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { ClusterInputs } from '../../../core/cluster-inputs.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { redactSecret, isSecret } from '../../../kinds/redact-secret.ts'
import { Source } from '../../../kinds/native/source.ts'
import { Override } from '../../../kinds/native/override.ts'
import { clusterInputsOf } from '../../../plan/release/variants.ts'
import { clusterKeys, describeKey } from '../../../render/bundle/chart/cluster-keys.ts'
import type { PreparedContent } from '../../../render/bundle/prepare-content.ts'
import { renderInCluster } from '../../../render/bundle/render-in-cluster.ts'
import type { LookupAnswer } from '../../../render/bundle/render-in-cluster.ts'
import { renderVariant } from '../../../render/bundle/render-variant.ts'
import type { Variant } from '../../../render/bundle/render-variant.ts'
import { describeProblems, objectIdentity } from '../../../render/render-result.ts'
import type { RenderResult } from '../../../render/render-result.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { ENTROPY, recipeFor, textsOfObject } from '../../repository/bundle-recipe.ts'
import type { ReadInputData } from '../../repository/bundle-recipe.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readRepository } from '../../repository/repository-files.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'

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

export interface RenderInput {
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly stdin: AsyncIterable<Uint8Array>
  /** Connects to the hub. Called for a cluster that is not in the files. */
  readonly connect: () => Promise<Pick<Connection, 'rest'>>
  readonly flags: RenderFlags
}

export async function render({ terminal, stdin, connect, flags }: RenderInput): Promise<void> {
  const given = (await readObjects(flags.filename ?? [], stdin)).map(({ object }) => object)
  const ofKind = <T>(kind: string): T[] => given.filter((object) => object.kind === kind) as unknown as T[]
  const isOwn = ({ apiVersion }: UnknownObject): boolean => apiVersion.startsWith('flotilla.dev/')
  const read = given.some(({ kind }) => kind === 'GitRepo') ? await fromGitRepos(given, flags, terminal) : []
  const bundles = [...(ofKind<Bundle>(Bundle.kind) as unknown as UnknownObject[]).filter(isOwn), ...read]
  const bundle = chooseBundle(bundles as unknown as Bundle[], flags.bundle)
  const cluster = await clusterFor(flags, ofKind<Cluster>(Cluster.kind), connect)
  const recipe = recipeFor(
    bundle,
    { overrides: ofKind<Override>(Override.kind), sources: ofKind<Source>(Source.kind) },
    textsIn(given),
  )
  const { DIALECT_BUILDERS } = await import('../../../dialects/dialect-builders.ts')
  const variant = renderVariant(recipe, cluster, {
    files: bundle.spec.source ? readRepository(flags.root ?? '.') : new Map(),
    entropy: ENTROPY,
    builders: DIALECT_BUILDERS,
    frozen: {},
  })
  if (flags.explain) explain(variant, cluster, terminal)
  const result =
    variant.result.ok === 'prepared' ? asInCluster(variant.result, given, cluster, terminal) : variant.result
  if (result.ok === 'skip') {
    terminal.say(
      `bundle "${bundle.metadata.name}" delivers no objects to cluster "${cluster.name}": excluded by ${result.by}`,
    )
    return
  }
  if (!result.ok) {
    throw new CliError(EXIT.failed, {
      what: `cannot render bundle "${bundle.metadata.name}" for cluster "${cluster.name}"`,
      why: describeProblems(result.problems),
    })
  }
  // The output can end up in logs of pipelines and in reviews, where secrets do not belong.
  const hidden = result.objects.filter(isSecret).length
  print(result.objects.map(redactSecret), flags.output ?? 'yaml', terminal)
  if (hidden > 0 && flags.output !== 'name') {
    terminal.say(`the values of ${plural(hidden, 'Secret')} are not shown`)
  }
}

/** Renders as the agent would, with the objects of the files instead of the objects of the cluster. */
function asInCluster(
  { recipe: prepared, files }: PreparedContent,
  given: readonly UnknownObject[],
  { kubeVersion }: ClusterInputs,
  terminal: Pick<Terminal, 'say'>,
): RenderResult {
  // Values of Secrets are not shown, so no key is needed: what is encrypted stays encrypted.
  const { decryptInCluster: _, ...recipe } = prepared
  terminal.say('the agent renders this Bundle in the cluster; the output uses the objects of the files instead')
  const find = (kind: string, namespace: string, name: string) =>
    given.find(
      (object) =>
        object.kind === kind &&
        object.metadata.name === name &&
        (namespace === '' || (object.metadata.namespace ?? namespace) === namespace),
    )
  const values = clusterKeys(recipe).map((key) => {
    const text = textsOfObject(find(key.kind, key.namespace, key.name))?.[key.key]
    if (text !== undefined || key.isOptional) return text
    throw new CliError(EXIT.usage, {
      what: `helm.valuesFrom: ${describeKey(key)} is not in the files`,
      todo: 'the agent reads the object in the cluster; add an example with another -f FILE',
    })
  })
  const request = compact({ recipe, files, frozen: {}, values, kubeVersion })
  const lookups: LookupAnswer[] = []
  for (;;) {
    const answer = renderInCluster({ ...request, lookups }, { entropy: ENTROPY })
    if (answer.kind === 'Rendered') return answer.result
    for (const query of answer.queries) {
      const found = query.name === '' ? undefined : find(query.kind, query.namespace, query.name)
      lookups.push({ query, found })
      const what = `${query.kind} ${query.namespace === '' ? '' : `${query.namespace}/`}${query.name || '*'}`
      if (!found) terminal.say(`  lookup of ${what}: not in the files, result is empty`)
    }
  }
}

/** Bundles of a Fleet repository. The dialect is loaded only if there is a GitRepo. */
async function fromGitRepos(
  given: readonly UnknownObject[],
  flags: RenderFlags,
  terminal: Pick<Terminal, 'say'>,
): Promise<UnknownObject[]> {
  const { bundlesOfFiles } = await import('../../../dialects/fleet/compile/read-git-repo.ts')
  const { bundles, findings } = bundlesOfFiles(given, readRepository(flags.root ?? '.'))
  for (const finding of findings) terminal.say(finding)
  return bundles as unknown as UnknownObject[]
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
    what: found.length === 0 ? 'no such Bundle in the files' : 'several Bundles in the files',
    why: names === '' ? 'the files have no Bundle' : `the files have ${names}`,
    todo: 'give a file with a Bundle with -f FILE, and choose one of several with --bundle NAME',
  })
}

async function clusterFor(
  flags: RenderFlags,
  clusters: readonly Cluster[],
  connect: RenderInput['connect'],
): Promise<ClusterInputs> {
  const labels = Object.fromEntries((flags.label ?? []).flatMap((given) => given.split(',')).map(pairOf))
  const base = { annotations: {}, claims: {}, values: {}, labels: {}, name: flags.cluster ?? 'example' }
  const known = clusters.find(({ metadata }) => metadata.name === flags.cluster)
  let inputs: ClusterInputs = base
  if (known) inputs = clusterInputsOf(known)
  else if (flags.cluster !== undefined && flags.label === undefined) {
    inputs = clusterInputsOf(await clientOver((await connect()).rest).get(Cluster, { name: flags.cluster }))
  }
  const kubeVersion = flags.kubeVersion ?? inputs.kubeVersion
  return compact({ ...inputs, labels: { ...inputs.labels, ...labels }, kubeVersion })
}

function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=')
  if (equals <= 0)
    throw new CliError(EXIT.usage, {
      what: `invalid --label ${JSON.stringify(text)}: must be KEY=VALUE, or several with commas`,
    })
  return [text.slice(0, equals), text.slice(equals + 1)]
}

function textsIn(given: readonly UnknownObject[]): ReadInputData {
  return (kind, name) => textsOfObject(given.find((object) => object.kind === kind && object.metadata.name === name))
}

function explain(variant: Variant, cluster: ClusterInputs, terminal: Pick<Terminal, 'say'>): void {
  const { origins, reads, style } = variant
  terminal.say(`cluster ${cluster.name}${style === undefined ? '' : `, style ${style}`}`)
  for (const [path, layer] of [...origins].sort(([a], [b]) => (a < b ? -1 : 1)))
    terminal.say(`  value ${path}: from ${layer}`)
  for (const [path, value] of Object.entries(reads)) terminal.say(`  read ${path}: ${value ?? '(not set)'}`)
  if (Object.keys(reads).length === 0)
    terminal.say('  no fact of the cluster was read: all clusters get the same objects')
}
