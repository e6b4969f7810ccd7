// Tested by src/cli/program/docs-page.test.ts
/** The commander `Command` of this program: with examples, global flags and the address of the documentation. */
import { Command, Option } from 'commander'
import type { HelpContext } from 'commander'
import { DOCUMENTATION, VERSION } from '../../core/version.ts'

/** Headings of `flotilla --help`, in their order there. */
export const GROUP = {
  start: 'Get started:',
  deliver: 'Deliver:',
  observe: 'Observe:',
  guard: 'Guard:',
  operate: 'Operate:',
  offline: 'Offline tools:',
  other: 'Other commands:',
} as const

/** A command line of the help, with the sentence above it. */
export interface Example {
  readonly purpose: string
  readonly line: string
}

/**
 * A command with its help. `about` sets the line in the list of the parent and the long description, `example` adds a
 * command line that a test parses:
 *
 *     rollout.command('pause').argument('<bundle|rollout>')
 *       .about('Pause a rollout', 'Clusters that were already admitted continue.')
 *       .example('Pause the newest rollout of bundle shop', 'flotilla rollout pause shop')
 */
export class FlotillaCommand extends Command {
  readonly examples: Example[] = []

  override createCommand(name?: string): FlotillaCommand {
    return new FlotillaCommand(name)
  }

  about(summary: string, details: string): this {
    return this.summary(summary).description(`${summary}. ${details}`)
  }

  example(purpose: string, line: string): this {
    this.examples.push({ purpose, line })
    return this
  }

  /** A group of commands has a help command of its own, in the words of the other commands. */
  override helpCommand(name?: string | boolean, description?: string): this {
    if (typeof name === 'boolean') return super.helpCommand(name)
    return super.helpCommand(name ?? 'help [command]', description ?? 'Show the help of a command')
  }

  override helpInformation(context?: HelpContext): string {
    const lines = this.examples.map(({ purpose, line }) => `  # ${purpose}\n  ${line}\n`)
    const examples = lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}`
    return `${super.helpInformation(context)}${examples}\nDocumentation: ${DOCUMENTATION}\n`
  }
}

/**
 * The program without its commands: name, version and global flags. Commander accepts `--version` also after a command,
 * where it belongs to the command (`bundle import helm`), so a run of a command omits the flag.
 */
export function createProgram({ hasVersion = true }: { readonly hasVersion?: boolean } = {}): FlotillaCommand {
  const program = new FlotillaCommand('flotilla')
    .about(
      'Manage what runs on a fleet of Kubernetes clusters',
      'A hub delivers bundles of manifests, charts and kustomizations to 5 to 10,000 clusters, ring by ring.',
    )
    .example('Start a hub and sixty simulated clusters on this machine', 'flotilla demo')
    .example('Show the fleet on one screen', 'flotilla status')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .helpOption('-h, --help', 'Show the help of a command')
    .helpCommand(false)
    .addOption(new Option('--color <when>', 'Color the output').choices(['auto', 'always', 'never']).default('auto'))
    .option(
      '--kubeconfig <file>',
      'Kubeconfig file of the hub. Defaults to FLOTILLA_KUBECONFIG, then to KUBECONFIG, then to the running demo',
    )
    .option('--context <name>', 'Context of the kubeconfig. Defaults to "flotilla"')
  return hasVersion ? program.version(VERSION, '-V, --version', 'Print the version') : program
}
