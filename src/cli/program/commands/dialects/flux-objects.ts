// Tested by src/cli/commands/flux/flux-objects.test.ts.
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'
import { addKindCommands, SOURCE_KEYS } from './flux-kind-commands.ts'
import type { KindKey } from './flux-kind-commands.ts'

const withNamespace = (command: FlotillaCommand): FlotillaCommand =>
  command.option('-n, --namespace <namespace>', 'Namespace. Defaults to flux-system')

async function inputOf(run: Run, flags: Record<string, unknown>) {
  const [commands, { FLUX_COMMAND_KINDS }, connection] = await Promise.all([
    import('../../../commands/flux/flux-objects.ts'),
    import('../../../commands/flux/flux-kinds.ts'),
    run.connect(),
  ])
  return {
    commands,
    kinds: FLUX_COMMAND_KINDS,
    input: { connection, terminal: run.terminal, signal: run.signal, flags },
  }
}

/** `flux get`, `reconcile`, `suspend`, `resume` and `tree`: objects of Flux on a hub. */
export function addFluxObjects(flux: FlotillaCommand, act: Act): void {
  addGet(flux, act)
  addVerb(flux, act, 'suspend')
  addVerb(flux, act, 'resume')
  addReconcile(flux, act)
  const tree = flux
    .command('tree')
    .about('Show the objects of a Flux object', 'Prints the objects that a Kustomization delivers as a tree.')
    .example('Show the objects of a Kustomization', 'flotilla flux tree kustomization apps')
  withNamespace(tree.command('kustomization'))
    .alias('ks')
    .argument('<name>', 'Name of the Kustomization')
    .about(
      'Show the objects of a Kustomization',
      'Prints the inventory, and below it the objects of Flux that the build has with theirs. An inventory is in the status while all clusters have the same objects.',
    )
    .example('Show the objects of Flux only', 'flotilla flux tree kustomization flux-system --compact')
    .option('--compact', 'Only objects of Flux')
    .action(
      act(async (run, [name = ''], flags) => {
        const { input } = await inputOf(run, flags)
        const { fluxTree } = await import('../../../commands/flux/flux-tree.ts')
        await fluxTree(name, input)
      }),
    )
}

const COLUMNS = 'Prints revision, suspension and readiness, in the columns of Flux.'

function addGet(flux: FlotillaCommand, act: Act): void {
  const get = flux
    .command('get')
    .about('List objects of Flux', COLUMNS)
    .example('List all Kustomizations', 'flotilla flux get kustomizations -A')
  const listing = (
    command: FlotillaCommand,
    keys: readonly KindKey[],
    what: string,
    example: string,
  ): FlotillaCommand => {
    return withNamespace(command)
      .about(`List ${what}`, COLUMNS)
      .example(`List ${what}`, example)
      .option('-A, --all-namespaces', 'List the objects of all namespaces')
      .option('-l, --label-selector <selector>', 'Only objects with these labels, for example team=web')
      .option('--no-header', 'Print no header')
      .option('--status-selector <type=status>', 'Only objects with this condition, for example ready=false')
      .action(
        act(async (run, words, flags) => {
          const { commands, kinds, input } = await inputOf(run, flags)
          await commands.fluxGet(
            keys.map((one) => kinds[one]),
            words[0],
            input,
          )
        }),
      )
  }
  const { commands, sources } = addKindCommands(get, ['List sources', COLUMNS], true)
  for (const { command, key, plural, words } of commands) {
    listing(command, [key], plural, `flotilla flux get ${words} -A`).argument('[name]', 'Name of one object')
  }
  listing(sources.command('all'), SOURCE_KEYS, 'all sources', 'flotilla flux get sources all')
  listing(
    get.command('all'),
    [...SOURCE_KEYS, 'kustomization', 'helmrelease'],
    'all objects',
    'flotilla flux get all -A --status-selector ready=false',
  )
}

const VERBS = {
  suspend: 'The hub fetches or delivers nothing new for the object. Clusters keep what they have.',
  resume: 'The hub follows the object again.',
} as const

function addVerb(flux: FlotillaCommand, act: Act, verb: keyof typeof VERBS): void {
  const title = `${verb[0]!.toUpperCase()}${verb.slice(1)}`
  const parent = flux
    .command(verb)
    .about(`${title} objects of Flux`, VERBS[verb])
    .example(`${title} a Kustomization`, `flotilla flux ${verb} kustomization apps`)
  const { commands } = addKindCommands(parent, [`${title} a source`, VERBS[verb]])
  for (const { command, key, kind, words, example } of commands) {
    withNamespace(command)
      .about(`${title} ${withArticle(kind)}`, VERBS[verb])
      .example(`${title} one object`, `flotilla flux ${verb} ${words} ${example}`)
      .argument('[names...]', 'Names of objects')
      .option('--all', 'All objects of the namespace')
      .action(
        act(async (run, names, flags) => {
          const { commands: own, kinds, input } = await inputOf(run, flags)
          await own.fluxSuspend(kinds[key], names.flat(), verb === 'suspend', input)
        }),
      )
  }
}

/** Kinds that are made from another object of Flux. */
const WITH_SOURCE: readonly KindKey[] = ['kustomization', 'helmrelease', 'chart']

function addReconcile(flux: FlotillaCommand, act: Act): void {
  const details = 'Waits until the hub has handled the request.'
  const reconcile = flux
    .command('reconcile')
    .about('Reconcile an object of Flux now', details)
    .example('Fetch the source and deliver it', 'flotilla flux reconcile kustomization apps --with-source')
  const { commands } = addKindCommands(reconcile, ['Fetch a source now', details])
  for (const { command, key, kind, words, example } of commands) {
    withNamespace(command)
      .about(`Reconcile ${withArticle(kind)} now`, details)
      .example('Reconcile one object', `flotilla flux reconcile ${words} ${example}`)
      .argument('<name>', 'Name of the object')
      .option('--timeout <duration>', 'Time to wait. Defaults to 1m')
      .action(
        act(async (run, [name = ''], flags) => {
          const { commands: own, kinds, input } = await inputOf(run, flags)
          await own.fluxReconcile(kinds[key], name, input)
        }),
      )
    if (WITH_SOURCE.includes(key)) command.option('--with-source', 'Fetch the source first')
  }
}

function withArticle(kind: string): string {
  return `${/^[AEIO]/.test(kind) ? 'an' : 'a'} ${kind}`
}
