// A git server of a sandbox: the bare repository at `/repo.git`. Arguments: address, port and folder of the repository.
import { serveGit, startContentServer } from '../fixtures/content-server.ts'

const [host, port, repository] = process.argv.slice(2) as [string, string, string]
await startContentServer([serveGit(repository)], { plain: true, host, port: Number(port) })
