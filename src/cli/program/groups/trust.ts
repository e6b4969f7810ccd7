import type { Command } from 'commander'
import type { Act } from '../command-action.ts'

/** Commands about trust: rotate, export, require-agent; and the hub's new epoch. */
export function addTrust(program: Command, act: Act): void {
  const trust = program.command('trust').description('change what agents believe; the root key signs each change')
  const withKeys = (command: Command): Command =>
    command
      .requiredOption('--data <dir>', 'the data directory of the hub')
      .option('--root <file>', 'the root key, from where you keep it (default: the one in the data directory)')
  const rotate = trust.command('rotate').description('replace a key: of the hub, or of agents')
  const own = { signer: 'the key that signs documents', ca: 'the CA of gateways and agents' } as const
  for (const what of ['signer', 'ca'] as const) {
    withKeys(rotate.command(what))
      .description(`replace ${own[what]}`)
      .option('--drop-old', 'do not believe the old one any more, for a key that somebody may have')
      .option('-y, --yes', 'do not ask')
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
  rotate
    .command('sealing')
    .argument('[clusters...]', 'clusters by name')
    .description('ask agents for new sealing keys; values are sealed again')
    .option('-l, --selector <labels>', 'clusters with these labels')
    .option('--reason <text>', 'why, for people')
    .option('-y, --yes', 'do not ask')
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
  withKeys(trust.command('require-agent').argument('<version>', 'MAJOR.MINOR.PATCH'))
    .description('the least version of agents: older ones cannot join and follow nothing new')
    .action(
      act(async (run, words, flags) => {
        const { trustRequireAgent } = await import('../../commands/trust/trust.ts')
        await trustRequireAgent(words[0]!, { terminal: run.terminal, flags: flags as never })
      }),
    )
  trust
    .command('export')
    .description('print everything public of the trust as JSON: root, keys, all versions')
    .requiredOption('--data <dir>', 'the data directory of the hub')
    .action(
      act(async (run, _words, flags) => {
        const { trustExport } = await import('../../commands/trust/trust.ts')
        await trustExport({ terminal: run.terminal, flags: flags as never })
      }),
    )
  const hub = program.commands.find((command) => command.name() === 'hub')!
  withKeys(hub.command('new-epoch'))
    .description('go on from the present state of a hub that came back from an older one')
    .option('-y, --yes', 'do not ask')
    .action(
      act(async (run, _words, flags) => {
        const [{ hubNewEpoch }, { askYesNo }] = await Promise.all([
          import('../../commands/trust/trust.ts'),
          import('../../input/prompt.ts'),
        ])
        await hubNewEpoch({ terminal: run.terminal, flags: flags as never, confirm: askYesNo })
      }),
    )
}
