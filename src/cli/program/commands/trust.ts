// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { withYes } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `trust` and its verbs. */
export function addTrust(program: FlotillaCommand, act: Act): void {
  const trust = program
    .command('trust')
    .helpGroup(GROUP.operate)
    .about(
      'Rotate signing keys and certificate authorities',
      'Each change is signed with the root key and reaches the agents with their next document.',
    )
    .example('Rotate the signing key', 'flotilla trust rotate signer --data ./hub-data')
  addRotation(trust, act)
  withKeys(trust.command('require-agent'))
    .argument('<version>', 'Minimum version: MAJOR.MINOR.PATCH')
    .about('Require a minimum version of agents', 'Older agents cannot join and do not receive new documents.')
    .example('Require version 0.1.0', 'flotilla trust require-agent 0.1.0 --data ./hub-data')
    .action(
      act(async (run, words, flags) => {
        const { trustRequireAgent } = await import('../../commands/trust/trust.ts')
        await trustRequireAgent(words[0]!, { terminal: run.terminal, flags: flags as never })
      }),
    )
  trust
    .command('export')
    .about(
      'Print the public part of the trust as JSON',
      'The output has the root key, the signers, the CAs and all trust bundles.',
    )
    .example('Export the trust', 'flotilla trust export --data ./hub-data')
    .requiredOption('--data <dir>', 'Data directory of the hub (required)')
    .action(
      act(async (run, _words, flags) => {
        const { trustExport } = await import('../../commands/trust/trust.ts')
        await trustExport({ terminal: run.terminal, flags: flags as never })
      }),
    )
}

const OWN = {
  signer: {
    summary: 'Rotate the key that signs documents',
    details: 'Agents accept the old key too, unless --drop-old is given.',
  },
  ca: {
    summary: 'Rotate the CA of gateways and agents',
    details: 'Agents accept the old CA too, unless --drop-old is given.',
  },
} as const

function addRotation(trust: FlotillaCommand, act: Act): void {
  const rotate = trust
    .command('rotate')
    .about('Rotate a key of the hub or of agents', 'Agents learn new keys before the hub uses them.')
    .example('Rotate the signing key', 'flotilla trust rotate signer --data ./hub-data')
  for (const what of ['signer', 'ca'] as const) {
    const { summary, details } = OWN[what]
    withYes(withKeys(rotate.command(what)))
      .about(summary, details)
      .example(summary, `flotilla trust rotate ${what} --data ./hub-data`)
      .option('--drop-old', 'Stop accepting the old key at once. For a key that was disclosed')
      .action(
        act(async (run, _words, flags) => {
          const [{ trustRotate }, { askYesNo }] = await Promise.all([
            import('../../commands/trust/trust.ts'),
            import('../../input/prompt.ts'),
          ])
          await trustRotate(what, { terminal: run.terminal, flags: flags as never, confirm: askYesNo })
        }),
      )
  }
  withYes(rotate.command('api'))
    .about(
      'Rotate the CA of the API of an embedded hub',
      'Revokes all client certificates of the API, for example copies of admin.kubeconfig. Stop the hub first. Tokens of ServiceAccounts stay valid.',
    )
    .example('Revoke all client certificates', 'flotilla trust rotate api --data ./hub-data')
    .requiredOption('--data <dir>', 'Data directory of the hub (required)')
    .action(
      act(async (run, _words, flags) => {
        const [{ trustRotateApi }, { askYesNo }] = await Promise.all([
          import('../../commands/trust/trust.ts'),
          import('../../input/prompt.ts'),
        ])
        await trustRotateApi({ terminal: run.terminal, flags: flags as never, confirm: askYesNo })
      }),
    )
  withYes(rotate.command('sealing'))
    .argument('[clusters...]', 'Names of the clusters. Required unless -l is given')
    .about('Rotate the sealing keys of clusters', 'The agents create new keys, and the hub seals the values again.')
    .example('Rotate the sealing keys of a region', 'flotilla trust rotate sealing -l region=north')
    .option('-l, --selector <labels>', 'Label selector of the clusters')
    .option('--reason <text>', 'Reason recorded in the audit log')
    .action(
      act(async (run, words, flags) => {
        const [{ trustRotateSealing }, { askYesNo }, connection] = await Promise.all([
          import('../../commands/trust/rotate-sealing.ts'),
          import('../../input/prompt.ts'),
          run.connect(),
        ])
        await trustRotateSealing(words, { ...run, connection, flags, confirm: askYesNo })
      }),
    )
}

function withKeys(command: FlotillaCommand): FlotillaCommand {
  return command
    .requiredOption('--data <dir>', 'Data directory of the hub (required)')
    .option('--root <file>', 'Root key. Defaults to the root key in the data directory')
}
