// Tested by src/cli/program/docs-page.test.ts: summary, description, flags and examples of each command.
import { withYes } from '../command-action.ts'
import type { Act } from '../command-action.ts'
import { GROUP } from '../flotilla-command.ts'
import type { FlotillaCommand } from '../flotilla-command.ts'

/** `hub run`, `hub sign-in`, `hub maintenance` and `hub new-epoch`. */
export function addHub(program: FlotillaCommand, act: Act): void {
  const hub = program
    .command('hub')
    .helpGroup(GROUP.start)
    .about(
      'Run a hub and sign in to its console',
      'These commands run on the machine of the hub, except maintenance, which works with a kubeconfig.',
    )
    .example('Run a hub with its data in ./hub-data', 'flotilla hub run --data ./hub-data')
  addHubRun(hub, act)
  hub
    .command('sign-in')
    .about('Print a new address of the console', 'Each address signs in one browser. The hub must run on this machine.')
    .example('Sign in to the console of a hub', 'flotilla hub sign-in --data ./hub-data')
    .requiredOption('--data <dir>', 'Data directory of the hub (required)')
    .action(
      act(async (run, _words, flags) => {
        const { hubSignIn } = await import('../../commands/hub/sign-in.ts')
        await hubSignIn(String(flags['data']), run)
      }),
    )
  addMaintenance(hub, act)
  withYes(hub.command('new-epoch'))
    .about(
      'Continue from the present state of a restored hub',
      'A hub that was restored from a backup has older documents than its agents. A new epoch makes agents accept the documents of this hub.',
    )
    .example('Begin a new epoch after a restore', 'flotilla hub new-epoch --data ./hub-data')
    .requiredOption('--data <dir>', 'Data directory of the hub (required)')
    .option('--root <file>', 'Root key. Defaults to the root key in the data directory')
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

function addMaintenance(hub: FlotillaCommand, act: Act): void {
  const maintenance = hub
    .command('maintenance')
    .about(
      'Stop all decisions of a hub for a time',
      'In maintenance, the hub changes no object, admits nothing to rollouts and registers no clusters. Agents keep what they have, repair drift and report.',
    )
    .example('Begin a maintenance', 'flotilla hub maintenance on --reason "upgrade of etcd"')
  const run = (command: 'maintenanceOn' | 'maintenanceOff') =>
    act(async (given, _words, flags) => {
      const [commands, connection] = await Promise.all([import('../../commands/hub/maintenance.ts'), given.connect()])
      await commands[command]({ ...given, connection, flags })
    })
  maintenance
    .command('on')
    .about(
      'Begin a maintenance',
      'Waits until all processes of the hub have confirmed it. Exits with 8 if one of them has not.',
    )
    .example('Begin a maintenance', 'flotilla hub maintenance on --reason "upgrade of etcd"')
    .option('--reason <text>', 'Reason shown to users (required)')
    .option('--timeout <duration>', 'Time to wait for the processes of the hub', '30s')
    .action(run('maintenanceOn'))
  maintenance
    .command('off')
    .about(
      'End a maintenance',
      'Waits until all processes of the hub have confirmed it. Exits with 8 if one of them has not.',
    )
    .example('End a maintenance', 'flotilla hub maintenance off')
    .option('--timeout <duration>', 'Time to wait for the processes of the hub', '30s')
    .action(run('maintenanceOff'))
}

function addHubRun(hub: FlotillaCommand, act: Act): void {
  hub
    .command('run')
    .about(
      'Run a hub',
      'The hub stores its objects in --data DIR, or with --kubeconfig FILE in the cluster of FILE. Flags override the environment, which overrides --config.',
    )
    .example('Run an embedded hub', 'flotilla hub run --data ./hub-data')
    .example('Store the objects in a Kubernetes API server', 'flotilla hub run --kubeconfig home.kubeconfig')
    .example('Print the settings and their origins', 'flotilla hub run --data ./hub-data --print-config')
    .option('--data <dir>', 'Directory of keys, database and blobs. Created if missing')
    .option('--listen <host:port>', 'Address of the API. Defaults to 127.0.0.1:7443; port 0 selects a free port')
    .option(
      '--view-url <url>',
      'With --kubeconfig: URL by which the kube-apiserver reaches --listen. Defaults to the address of the listener',
    )
    .option('--gateway-listen <host:port>', 'Address of the gateway for agents. Defaults to 0.0.0.0:7444')
    .option(
      '--gateway-url <url>',
      'URL by which agents reach the gateway. Defaults to https://HOST:PORT of the listener',
    )
    .option(
      '--console-listen <host:port>',
      'Address of the console. Defaults to 127.0.0.1:7480; other addresses than loopback need TLS and OpenID Connect',
    )
    .option('--console-cert <file>', 'TLS certificate chain of the console in PEM. If omitted, plain HTTP on loopback')
    .option('--console-key <file>', 'Private key of --console-cert in PEM')
    .option('--console-url <url>', 'URL by which browsers reach the console. Defaults to the address of the listener')
    .option('--oidc-issuer <url>', 'OpenID Connect issuer whose users may use the console and the API')
    .option('--oidc-client-id <id>', 'ID of this hub at the issuer')
    .option('--oidc-client-secret-file <file>', 'Secret of the client. If omitted, the client is public')
    .option('--oidc-username-claim <claim>', 'Claim of the user name. Defaults to sub')
    .option('--oidc-groups-claim <claim>', 'Claim of the groups. Defaults to groups')
    .option('--oidc-ca <file>', 'CA certificate of the issuer in PEM. Defaults to the CA certificates of this machine')
    .option(
      '--metrics-listen <host:port>',
      'Additional address for /metrics over plain HTTP. If omitted, only the console serves /metrics',
    )
    .option(
      '--gate-hosts <hosts>',
      'Comma-separated hosts that gates of rollouts may call. If omitted, gates may call any host over HTTPS',
    )
    .option(
      '--push-hosts <hosts>',
      'Comma-separated hosts that agents run by the hub may call. If omitted, any host over HTTPS except this machine',
    )
    .option('--no-push', 'Run no agents for clusters registered by a kubeconfig')
    .option(
      '--webhook-listen <host:port>',
      'Address for webhooks of git servers. If omitted, the hub has no webhook listener',
    )
    .option(
      '--source-paths <dirs>',
      'Directories that may hold local repositories of Sources. If omitted, Sources cannot use local repositories',
    )
    .option(
      '--source-hosts <hosts>',
      'Comma-separated hosts that Sources may contact. If omitted, all hosts except this machine and its link-local network',
    )
    .option(
      '--dialects <names>',
      'Other systems whose kinds the hub serves, for example fleet,ocm. The words all and none are possible. Defaults to all, and with --kubeconfig to none',
    )
    .option(
      '--hub-templates [runners]',
      'Serve workloads of the hub as templates for clusters, with the kinds of Karmada. With --kubeconfig, the word NoControllers declares that no controller there runs them. If omitted, no workloads are served',
    )
    .option('--name <name>', 'Name of this hub among the hubs of its home. Defaults to a name that --data keeps')
    .option(
      '--roles <names>',
      'With --kubeconfig: what this process does, for example gateway or controllers,renderers. Defaults to controllers, renderers, gateway, views and console',
    )
    .option(
      '--drain <seconds>',
      'Time for which a gateway that stops sends its agents to other gateways, for example 20s. Defaults to 10s with --kubeconfig, otherwise to 0s',
    )
    .option(
      '--keys <dir>',
      'With --kubeconfig: directory with the keys of the hub, such as a mounted Secret. If omitted, keys in --data, created at the first start',
    )
    .option(
      '--blobs <url>',
      'With --kubeconfig: bucket for rendered content, s3://BUCKET/PREFIX. If omitted, files in --data, which only one hub can use',
    )
    .option('--s3-endpoint <url>', 'URL of the S3 server. Defaults to https://s3.REGION.amazonaws.com')
    .option('--s3-region <region>', 'Region of the bucket. Defaults to AWS_REGION, then to us-east-1')
    .option(
      '--s3-addressing <form>',
      'Place of the bucket in a URL: path or virtual. Defaults to path with --s3-endpoint, otherwise to virtual',
    )
    .option(
      '--s3-ca <file>',
      'CA certificates of the S3 server in PEM. Defaults to the CA certificates of this machine',
    )
    .option(
      '--s3-credentials <dir>',
      'Directory with the files access-key-id and secret-access-key. Defaults to the variables AWS_* of the environment',
    )
    .option(
      '--s3-token-service <url>',
      'URL of the security token service for web identities. Defaults to https://sts.REGION.amazonaws.com',
    )
    .option(
      '--agent-image <image>',
      'Image of the agent for manifests of "cluster add". If omitted, their pods fetch the program of the agent from the hub',
    )
    .option('--config <file>', 'YAML file with these settings')
    .option('--log-level <level>', 'Log level: debug, info, warn or error')
    .option('--print-config', 'Print the settings and the origin of each, then exit')
    .action(
      act(async (run, _words, flags) => {
        const { hubRun } = await import('../../commands/hub/run.ts')
        return await hubRun(run, flags)
      }),
    )
}

/** `login`: credentials of a hub in a kubeconfig. */
export function addLogin(program: FlotillaCommand, act: Act): void {
  withYes(program.command('login'))
    .helpGroup(GROUP.start)
    .argument('[server]', 'Address of the API of the hub: https://HOST:PORT')
    .about(
      'Log in to a hub and save the credentials as a kubeconfig context',
      'The command writes to the file of --kubeconfig, or to ~/.kube/config. The context is named --context, or "flotilla".',
    )
    .example('Log in with a token', 'flotilla login https://hub.example:7443 --token-file token --ca hub-ca.crt')
    .example(
      'Log in with an OpenID Connect issuer',
      'flotilla login https://hub.example:7443 --oidc-issuer https://id.example --oidc-client-id flotilla',
    )
    .example('Log in with a kubeconfig file', 'flotilla login --from admin.kubeconfig')
    .option('--token-file <file>', 'File with the token, or - for stdin. The token is saved in a file with mode 0600')
    .option('--oidc-issuer <url>', 'Sign in with this OpenID Connect issuer in a browser. The ID token is saved')
    .option('--oidc-client-id <id>', 'ID of the hub at the issuer')
    .option('--oidc-ca <file>', 'CA certificate of the issuer in PEM. Defaults to the CA certificates of this machine')
    .option('--ca <file>', 'CA certificate of the API in PEM. Defaults to the CA certificates of this machine')
    .option('--from <kubeconfig>', 'Copy server, CA and credentials from the current context of this kubeconfig')
    .option('--current', 'Also make the context the current context of kubectl')
    .action(
      act(async (run, words, flags) => {
        const [{ login }, { askYesNo }] = await Promise.all([
          import('../../commands/hub/login.ts'),
          import('../../input/prompt.ts'),
        ])
        await login(words[0], { ...run, flags, confirm: askYesNo })
      }),
    )
}
