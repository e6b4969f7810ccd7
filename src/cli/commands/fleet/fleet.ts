// Tested by src/cli/commands/fleet/fleet.contract.test.ts
/** `flotilla fleet`: the words of Rancher Fleet's command. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { isSecret, redactSecret } from '../../../kinds/redact-secret.ts'
import { renderVariant } from '../../../render/bundle/render-variant.ts'
import { describeProblems, objectIdentity } from '../../../render/render-result.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import type { Terminal } from '../../print/terminal.ts'
import { ENTROPY, recipeFor } from '../../repository/bundle-recipe.ts'
import { readRepository } from '../../repository/repository-files.ts'
import { readObjects } from '../objects/apply.ts'

/** What the commands need. */
export interface FleetInput {
  readonly terminal: Pick<Terminal, 'data' | 'say' | 'step'>
  readonly stdin: AsyncIterable<Uint8Array>
  readonly connect: () => Promise<Pick<Connection, 'rest' | 'namespace'>>
  readonly flags: FleetFlags
}

/** Flags of the commands, named as Fleet names them. */
export interface FleetFlags {
  readonly namespace?: string
  readonly file?: string
  readonly output?: string
  readonly label?: readonly string[]
  readonly commit?: string
  readonly targetsFile?: string
  readonly targetNamespace?: string
  readonly serviceAccount?: string
  readonly paused?: boolean
  readonly keepResources?: boolean
  readonly deleteNamespace?: boolean
  readonly correctDrift?: boolean
  readonly correctDriftForce?: boolean
  readonly compress?: boolean
  readonly syncGeneration?: string
  readonly bundleFile?: string
  readonly filename?: readonly string[]
  readonly name?: string
  readonly group?: string
  readonly groupLabel?: readonly string[]
  readonly target?: string
  readonly quiet?: boolean
  readonly kubeVersion?: string
}

const WORKSPACE = 'fleet-default'

/** `fleet apply NAME PATH…`: Bundles with the files of directories, printed or applied to the hub. */
export async function fleetApply([name = '', ...paths]: readonly string[], input: FleetInput): Promise<void> {
  const { terminal, flags, connect } = input
  const bundles = await bundlesOf(name, paths, input)
  if (flags.output !== undefined) {
    const text = bundles.map((bundle) => `---\n${writeYaml(bundle)}`).join('')
    if (flags.output === '-') terminal.data(text)
    else writeFileSync(flags.output, text)
    return
  }
  const [{ FleetBundle }, connection] = await Promise.all([import('../../../dialects/fleet/kinds.ts'), connect()])
  const client = clientOver(connection.rest)
  for (const bundle of bundles) {
    await client.apply(FleetBundle, bundle as never, { fieldManager: 'fleet-apply', force: true })
    terminal.data(`bundle.fleet.cattle.io/${bundle.metadata.name} serverside-applied\n`)
  }
}

/** `fleet test`: the objects of a Bundle on one cluster, without a hub. */
export async function fleetTest(paths: readonly string[], input: FleetInput): Promise<void> {
  const { terminal, flags, stdin } = input
  const { onCluster } = await import('../../../dialects/fleet/offline/on-cluster.ts')
  // The labels are those of the cluster, not of the Bundle.
  const { label: _label, ...settings } = flags
  const bundles =
    flags.bundleFile === undefined
      ? await bundlesOf(nameOf(paths[0] ?? '.'), paths.slice(0, 1), { ...input, flags: settings })
      : await readBundles(flags.bundleFile, stdin)
  let matched = 0
  for (const bundle of bundles) {
    const name = flags.name ?? 'test'
    const found = await withProblems(async () =>
      onCluster(bundle, {
        name,
        labels: pairs(flags.label, '--label'),
        groupLabels: pairs(flags.groupLabel, '--group-label'),
        ...compact({ group: flags.group, target: flags.target }),
      }),
    )
    if (!found) continue
    matched++
    const rendered = render(found, name, flags.kubeVersion)
    if (rendered.hidden > 0) terminal.say(`the values of ${plural(rendered.hidden, 'Secret')} are not shown`)
    if (!flags.quiet) terminal.data(rendered.objects.map((object) => `---\n${writeYaml(object)}`).join(''))
  }
  if (matched === 0) {
    throw new CliError(EXIT.failed, {
      what: 'no match found',
      why: 'no target of the bundle selects a cluster with this name, these labels and this group',
      todo: 'give the labels with -l KEY=VALUE, the group with -g GROUP, or the name of the cluster with -N NAME',
    })
  }
}

interface ToRender {
  readonly bundle: Bundle
  readonly labels: Readonly<Record<string, string>>
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** The objects of a Bundle on a cluster. The values of Secrets are not shown. */
function render({ bundle, labels, files }: ToRender, name: string, kubeVersion: string | undefined) {
  const recipe = recipeFor(bundle, { overrides: [], sources: [] }, () => undefined)
  const cluster = compact({ name, labels, annotations: {}, claims: {}, values: {}, kubeVersion })
  const { result } = renderVariant(recipe, cluster, { files, entropy: ENTROPY, frozen: {} })
  if (result.ok === 'skip') return { objects: [], hidden: 0 }
  if (result.ok === 'prepared') {
    throw new CliError(EXIT.failed, {
      what: `bundle ${bundle.metadata.name} is rendered in the cluster`,
      why: 'helm.valuesFrom reads objects of the cluster',
      todo: 'use "flotilla render" with files that have these objects',
    })
  }
  if (!result.ok) {
    const what = `cannot render bundle ${bundle.metadata.name} for this cluster`
    throw new CliError(EXIT.failed, { what, why: describeProblems(result.problems) })
  }
  const sorted = result.objects.toSorted((a, b) => (objectIdentity(a) < objectIdentity(b) ? -1 : 1))
  return { objects: sorted.map(redactSecret), hidden: sorted.filter(isSecret).length }
}

/** Reports a Bundle that cannot be compiled as an error of the command. */
async function withProblems<T>(work: () => Promise<T>): Promise<T> {
  const { BundleProblem } = await import('../../../dialects/fleet/offline/on-cluster.ts')
  try {
    return await work()
  } catch (caught) {
    if (!(caught instanceof BundleProblem)) throw caught
    throw new CliError(EXIT.failed, { what: caught.message }, { cause: caught })
  }
}

/** `fleet target`: the clusters of a Bundle among the Clusters of files, without a hub. */
export async function fleetTarget(input: FleetInput): Promise<void> {
  const { terminal, flags, stdin } = input
  if (flags.bundleFile === undefined) throw new CliError(EXIT.usage, { what: 'missing --bundle-file FILE' })
  const { targetClusters } = await import('../../../dialects/fleet/offline/target-clusters.ts')
  const bundles = await readBundles(flags.bundleFile, stdin)
  const objects = (await readObjects(flags.filename ?? [], stdin)).map(({ object }) => object)
  const deployments = await withProblems(async () => bundles.flatMap((bundle) => targetClusters(bundle, objects)))
  terminal.data(deployments.map((object) => `---\n${writeYaml(object)}`).join(''))
  terminal.say(`${plural(deployments.length, 'cluster')} selected`)
}

/** `fleet deploy`: refused, because nothing reaches a cluster beside the hub. */
export function fleetDeploy(): never {
  throw new CliError(EXIT.usage, {
    what: 'fleet deploy is not supported',
    why: 'only the agent of a cluster applies bundles, and a release beside it would have two owners',
    todo: 'print the objects with "flotilla fleet test", and deliver a Bundle with "flotilla fleet apply"',
  })
}

/** `fleet cleanup clusterregistration`: deletes requests of Fleet's own agents, which are never granted. */
export async function fleetCleanup(what: string, { terminal, flags, connect }: FleetInput): Promise<void> {
  if (what !== 'clusterregistration') {
    terminal.say('nothing to clean up: the hub runs no Jobs for GitRepos')
    return
  }
  const { ClusterRegistration } = await import('../../../dialects/fleet/registration-kinds.ts')
  const client = clientOver((await connect()).rest)
  const scope = flags.namespace === undefined ? {} : { namespace: flags.namespace }
  const { items } = await client.list(ClusterRegistration, scope)
  for (const { metadata, status } of items) {
    const { name, namespace = '' } = metadata
    // A request that Fleet itself granted, before the hub, belongs to an agent that may still run.
    if (status?.granted) continue
    try {
      await client.delete(ClusterRegistration, { namespace, name })
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      continue
    }
    terminal.data(`clusterregistration.fleet.cattle.io/${name} deleted\n`)
  }
}

async function bundlesOf(
  name: string,
  paths: readonly string[],
  { terminal, flags }: FleetInput,
): Promise<readonly UnknownObject[]> {
  const { applyDirectories } = await import('../../../dialects/fleet/offline/apply-directories.ts')
  const given = paths.length === 0 ? ['.'] : paths
  const bundles: UnknownObject[] = []
  for (const path of given) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new CliError(EXIT.usage, { what: `${path} is not a directory`, todo: 'give a directory with manifests' })
    }
  }
  for (const path of given) {
    const { directory, files } = filesBelow(path)
    const read = applyDirectories({
      name,
      namespace: flags.namespace ?? WORKSPACE,
      paths: [directory],
      files,
      labels: { ...pairs(flags.label, '--label'), ...(flags.commit && { [COMMIT_LABEL]: flags.commit }) },
      ...compact({
        settings: flags.file === undefined ? undefined : { text: await readText(flags.file), file: flags.file },
        targets: flags.targetsFile === undefined ? undefined : targetsOf(flags.targetsFile),
        targetNamespace: flags.targetNamespace,
        serviceAccount: flags.serviceAccount,
        paused: flags.paused,
        keepResources: flags.keepResources,
        deleteNamespace: flags.deleteNamespace,
        compress: flags.compress,
        syncGeneration: flags.syncGeneration === undefined ? undefined : Number(flags.syncGeneration),
        correctDrift: flags.correctDrift
          ? { enabled: true, ...(flags.correctDriftForce && { force: true }) }
          : undefined,
      }),
    })
    say(read.findings, terminal)
    bundles.push(...(read.bundles as readonly KubeObject[] as readonly UnknownObject[]))
  }
  if (bundles.length === 0) {
    throw new CliError(EXIT.failed, {
      what: `no resource found at the following paths to deploy: ${given.join(', ')}`,
      todo: 'give directories with a fleet.yaml, or with manifests in .yaml files',
    })
  }
  return bundles
}

const COMMIT_LABEL = 'fleet.cattle.io/commit'

/** The files of a directory; a directory elsewhere is named by the last part of its path. */
function filesBelow(path: string): { readonly directory: string; readonly files: ReadonlyMap<string, Uint8Array> } {
  const clean = path.split('/').filter((part) => part !== '' && part !== '.')
  const isHere = !path.startsWith('/') && !clean.includes('..')
  const directory = isHere ? clean.join('/') : basename(resolve(path))
  const prefix = directory === '' ? '' : `${directory}/`
  const files = [...readRepository(path)].map(([file, bytes]) => [`${prefix}${file}`, bytes] as const)
  return { directory: directory || '.', files: new Map(files) }
}

interface Finding {
  readonly level: string
  readonly file?: string
  readonly line?: number
  readonly message: string
}

function say(findings: readonly Finding[], terminal: Pick<Terminal, 'step'>): void {
  const text = ({ file, line, message }: Finding) =>
    `${file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message}`
  const wrong = findings.find(({ level }) => level === 'error')
  if (wrong) throw new CliError(EXIT.failed, { what: text(wrong) })
  for (const finding of findings) terminal.step('warn', text(finding))
}

function targetsOf(file: string): readonly object[] {
  const [document] = readYaml(readFileSync(file, 'utf8'), { file })
  const value = document?.value as { readonly targets?: readonly object[] } | undefined
  if (Array.isArray(value?.targets)) return value.targets
  throw new CliError(EXIT.usage, { what: `${file} has no list targets`, todo: 'write "targets:" with a list' })
}

async function readBundles(file: string, stdin: AsyncIterable<Uint8Array>): Promise<readonly UnknownObject[]> {
  const objects = (await readObjects([file], stdin)).map(({ object }) => object)
  const bundles = objects.filter(isBundle)
  if (bundles.length > 0) return bundles
  throw new CliError(EXIT.usage, {
    what: `${file} has no Bundle of fleet.cattle.io`,
    todo: 'write one with "flotilla fleet apply NAME PATH -o FILE"',
  })
}

function isBundle({ apiVersion, kind }: UnknownObject): boolean {
  return apiVersion.startsWith('fleet.cattle.io/') && kind === 'Bundle'
}

function nameOf(path: string): string {
  const last = basename(path)
  return last === '.' || last === '' ? 'test' : last
}

function pairs(given: readonly string[] = [], flag: string): Record<string, string> {
  return Object.fromEntries(
    given
      .flatMap((text) => text.split(','))
      .map((text) => {
        const at = text.indexOf('=')
        if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
        throw new CliError(EXIT.usage, { what: `invalid ${flag} ${JSON.stringify(text)}: must be KEY=VALUE` })
      }),
  )
}
