// Tested by src/cli/commands/flux/flux-objects.test.ts.
import type { Act, Run } from '../../command-action.ts'
import type { FlotillaCommand } from '../../flotilla-command.ts'

type Kind = 'kustomization' | 'git'

const withNamespace = (command: FlotillaCommand): FlotillaCommand =>
  command.option('-n, --namespace <namespace>', 'Namespace. Defaults to flux-system')

async function inputOf(run: Run, flags: Record<string, unknown>) {
  const [commands, connection] = await Promise.all([import('../../../commands/flux/flux-objects.ts'), run.connect()])
  return { commands, input: { connection, terminal: run.terminal, signal: run.signal, flags } }
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
      'Prints the inventory. It is in the status while all clusters have the same objects.',
    )
    .example('Show the objects of a Kustomization', 'flotilla flux tree kustomization apps')
    .action(
      act(async (run, [name = ''], flags) => {
        const { commands, input } = await inputOf(run, flags)
        await commands.fluxTree(name, input)
      }),
    )
}

function addGet(flux: FlotillaCommand, act: Act): void {
  const get = flux
    .command('get')
    .about('List objects of Flux', 'Prints revision, suspension and readiness, in the columns of Flux.')
    .example('List all Kustomizations', 'flotilla flux get kustomizations -A')
  const listing = (command: FlotillaCommand, kinds: readonly Kind[], what: string, example: string): void => {
    withNamespace(command)
      .about(`List ${what}`, 'Prints revision, suspension and readiness, in the columns of Flux.')
      .example(`List ${what}`, example)
      .argument('[name]', 'Name of one object')
      .option('-A, --all-namespaces', 'List the objects of all namespaces')
      .option('--no-header', 'Print no header')
      .option('--status-selector <type=status>', 'Only objects with this condition, for example ready=false')
      .action(
        act(async (run, [name], flags) => {
          const { commands, input } = await inputOf(run, flags)
          const { FLUX_COMMAND_KINDS, fluxGet } = commands
          await fluxGet(
            kinds.map((one) => FLUX_COMMAND_KINDS[one]),
            name,
            input,
          )
        }),
      )
  }
  listing(
    get.command('kustomizations').aliases(['kustomization', 'ks']),
    ['kustomization'],
    'Kustomizations',
    'flotilla flux get kustomizations -A',
  )
  const sources = get
    .command('sources')
    .alias('source')
    .about('List sources', 'Prints revision, suspension and readiness, in the columns of Flux.')
    .example('List GitRepositories', 'flotilla flux get sources git')
  listing(sources.command('git'), ['git'], 'GitRepositories', 'flotilla flux get sources git')
  listing(
    get.command('all'),
    ['git', 'kustomization'],
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
  const add = (command: FlotillaCommand, kind: Kind, words: string): void => {
    withNamespace(command)
      .about(`${title} a ${kind === 'git' ? 'GitRepository' : 'Kustomization'}`, VERBS[verb])
      .example(`${title} one object`, `flotilla flux ${verb} ${words} apps`)
      .argument('[names...]', 'Names of objects')
      .option('--all', 'All objects of the namespace')
      .action(
        act(async (run, names, flags) => {
          const { commands, input } = await inputOf(run, flags)
          await commands.fluxSuspend(commands.FLUX_COMMAND_KINDS[kind], names.flat(), verb === 'suspend', input)
        }),
      )
  }
  add(parent.command('kustomization').alias('ks'), 'kustomization', 'kustomization')
  const source = parent
    .command('source')
    .about(`${title} a source`, VERBS[verb])
    .example(`${title} a GitRepository`, `flotilla flux ${verb} source git fleet`)
  add(source.command('git'), 'git', 'source git')
}

function addReconcile(flux: FlotillaCommand, act: Act): void {
  const details = 'Waits until the hub has handled the request, at most 60 s.'
  const reconcile = flux
    .command('reconcile')
    .about('Reconcile an object of Flux now', details)
    .example('Fetch the source and deliver it', 'flotilla flux reconcile kustomization apps --with-source')
  const add = (command: FlotillaCommand, kind: Kind, words: string): FlotillaCommand =>
    withNamespace(command)
      .about(`Reconcile a ${kind === 'git' ? 'GitRepository' : 'Kustomization'} now`, details)
      .example('Reconcile one object', `flotilla flux reconcile ${words} apps`)
      .argument('<name>', 'Name of the object')
      .action(
        act(async (run, [name = ''], flags) => {
          const { commands, input } = await inputOf(run, flags)
          await commands.fluxReconcile(commands.FLUX_COMMAND_KINDS[kind], name, input)
        }),
      )
  add(reconcile.command('kustomization').alias('ks'), 'kustomization', 'kustomization').option(
    '--with-source',
    'Fetch the source first',
  )
  const source = reconcile
    .command('source')
    .about('Fetch a source now', details)
    .example('Fetch a GitRepository now', 'flotilla flux reconcile source git fleet')
  add(source.command('git'), 'git', 'source git')
}
