// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { Option } from 'commander'
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
      'Create and rotate signing keys and certificate authorities',
      'Each change is signed with the root key and reaches the agents with their next document.',
    )
    .example('Rotate the signing key', 'flotilla trust rotate signer --data ./hub-data')
  addKeys(trust, act)
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

function addKeys(trust: FlotillaCommand, act: Act): void {
  trust
    .command('init')
    .argument('<endpoints...>', 'Addresses by which agents reach the gateway: https://HOST:PORT')
    .about(
      'Create the root key and the other keys of a hub on this machine',
      'Use this command for a hub that stores its objects in a kube-apiserver. All processes of the hub read the keys from the Secret that "flotilla trust secret" prints. The root key stays on this machine.',
    )
    .example('Create the keys of a hub', 'flotilla trust init https://hub.example:7444 --data ./trust')
    .requiredOption('--data <dir>', 'Directory for the keys. Created if missing (required)')
    .action(
      act(async (run, words, flags) => {
        const { trustInit } = await import('../../commands/trust/trust.ts')
        await trustInit(words, { terminal: run.terminal, flags: flags as never })
      }),
    )
  trust
    .command('secret')
    .about(
      'Print the Secret with the keys that hubs need',
      'The Secret has no root key. Hubs mount it and read it with --keys. Apply it again after each change of the keys.',
    )
    .example('Create the Secret', 'flotilla trust secret --data ./trust')
    .requiredOption('--data <dir>', 'Directory of "flotilla trust init" (required)')
    .option('--name <name>', 'Name of the Secret', 'flotilla-hub-keys')
    .option('-n, --namespace <namespace>', 'Namespace of the Secret', 'flotilla-system')
    .action(
      act(async (run, _words, flags) => {
        const { printTrustSecret } = await import('../../commands/trust/trust.ts')
        await printTrustSecret({ terminal: run.terminal, flags: flags as never })
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

/** `evidence` and its verbs. */
export function addEvidence(program: FlotillaCommand, act: Act): void {
  const evidence = program
    .command('evidence')
    .helpGroup(GROUP.operate)
    .about(
      'Export and verify what clusters reported',
      'Evidence is the signed reports of a cluster, its documents and the trust bundles.',
    )
    .example('Export the evidence of a cluster', 'flotilla evidence export store-1')
  evidence
    .command('export')
    .argument('<cluster>', 'Name of the cluster')
    .about(
      'Print the evidence of a cluster',
      'The output has one JSON object in each line. The caller needs the verb create on clusters/evidence in the group view.flotilla.dev, for example by the role flotilla:auditor.',
    )
    .example('Export everything that the hub has', 'flotilla evidence export store-1')
    .example('Export the reports of a week', 'flotilla evidence export store-1 --since 7d')
    .option(
      '--since <time>',
      'Time of the oldest report, such as 2026-11-18T06:40:00Z, or a duration such as 7d. Defaults to all',
    )
    .action(
      act(async (run, words, flags) => {
        const [{ evidenceExport }, connection] = await Promise.all([
          import('../../commands/evidence/export.ts'),
          run.connect(),
        ])
        await evidenceExport(words[0]!, { terminal: run.terminal, connection, flags })
      }),
    )
  evidence
    .command('verify')
    .argument('<file>', 'Evidence file')
    .about(
      'Verify an evidence file without a hub',
      'The output lists what is verified, unsigned and missing. The exit code is 1 if a signature, a digest or a chain does not match.',
    )
    .example('Verify a file', 'flotilla evidence verify store-1.evidence --root-key trust.json')
    .requiredOption(
      '--root-key <file>',
      'Public root key in PEM, the output of "trust export", or a file with the digest of the root key (required)',
    )
    .option('--strict', 'Also fail if reports are missing or unsigned')
    .addOption(new Option('-o, --output <format>', 'Output format. Defaults to text').choices(['text', 'json']))
    .action(
      act(async (run, words, flags) => {
        const { evidenceVerify } = await import('../../commands/evidence/verify.ts')
        await evidenceVerify(words[0]!, { terminal: run.terminal, flags: flags as never })
      }),
    )
}
