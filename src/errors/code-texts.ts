// Table: what each failure says to its three readers. The compiler asks for a row per code.

import type { FailureCode } from './codes.ts';
import { durableTexts } from './durable-texts.ts';
import { flowTexts } from './flow-texts.ts';
import { storageTexts } from './storage-texts.ts';
import type { ThreeTexts } from './three-texts.ts';

export const codeTexts: Readonly<Record<FailureCode, ThreeTexts>> = {
  PROVIDER_NOT_CONFIGURED: {
    forDeveloper: 'No key or no address is set for the provider, or the key cannot be sent in a header.',
    forPerson: {
      what: '{Provider} is not set up.',
      next: 'Set its API key in the environment or hand it in, then run again.',
    },
    forModel: 'The model service is not set up. Nothing in the request can change that; do not repeat it.',
  },
  PROVIDER_NOT_SUPPORTED: {
    forDeveloper:
      'No provider of that name is known, or the model handed in speaks a version that is not known.',
    forPerson: {
      what: 'Rerail does not know the model provider that was asked for.',
      next: 'Check the part before the colon in the model name, or register the provider.',
    },
    forModel: 'The model service asked for is not known here. Do not ask for it again.',
  },
  AUTHENTICATION_ERROR: {
    forDeveloper: 'The credential is missing, wrong, expired or of the wrong kind.',
    forPerson: {
      what: '{Provider} did not accept the API key.',
      next: 'Check that the key is set, complete and still valid, then run again.',
    },
    forModel:
      'The model service refused the credentials. Nothing in the request can change that; do not repeat it.',
  },
  PERMISSION_DENIED: {
    forDeveloper:
      'The credential is fine, the act is forbidden: region, scope, switched-off account, model access, firewall, file rights.',
    forPerson: {
      what: '{Subject} refused access.',
      next: 'Ask whoever manages the account or the files for access; trying again will not help.',
    },
    forModel:
      'Access was refused: {message}. Do not repeat the same act; choose another way or say that it is not allowed.',
  },
  MODEL_NOT_FOUND: {
    forDeveloper: 'The model is unknown or retired, or this credential cannot see it.',
    forPerson: {
      what: '{Provider} does not offer {model} to this account.',
      next: 'Check the spelling of the model name, or choose another model.',
    },
    forModel: 'The model asked for does not exist or may not be used. Do not ask for it again.',
  },
  MODEL_LOADING: {
    forDeveloper: 'The server is up, but the model is still being loaded (cold start).',
    forPerson: {
      what: '{Provider} is still loading {model}.',
      next: 'If it goes on, look at the log of the server that loads it.',
    },
    forModel: 'The model is still loading. The same request may succeed a little later.',
  },
  RATE_LIMITED: {
    forDeveloper:
      'An allowance that refills by itself is used up: requests, tokens or parallel calls in a window.',
    forPerson: {
      what: '{Subject} is limiting how fast requests may come.',
      next: 'If this happens often, send less at once or ask the provider for a higher limit.',
    },
    forModel: 'Too many requests in a short time. Wait before doing this again, or do it less often.',
  },
  QUOTA_EXCEEDED: {
    forDeveloper:
      'Money, credits, a plan window or a daily allowance is used up. Waiting a little does not help.',
    forPerson: {
      what: 'The account at {provider} has used up its credit or its plan.',
      next: "Top it up or raise the limit in the provider's billing settings, then run again.",
    },
    forModel: 'The account has no allowance left. Nothing in the request can change that; do not repeat it.',
  },
  OVERLOADED: {
    forDeveloper: "The provider's own load or lack of capacity, whatever the status said.",
    forPerson: {
      what: '{Provider} is overloaded.',
      next: "If it goes on, look at the provider's status page or use another model.",
    },
    forModel: 'The service is overloaded. The same request may succeed later.',
  },
  SERVER_ERROR: {
    forDeveloper: 'The other side failed: 5xx, a broken gateway, or a host that cannot run the model.',
    forPerson: {
      what: '{Subject} had an internal error.',
      next: "If it goes on, look at the provider's status page.",
    },
    forModel: 'The service had an internal error. The same request may succeed later.',
  },
  NETWORK_ERROR: {
    forDeveloper: 'No connection, or it was lost before an answer began: DNS, refused, reset, TLS.',
    forPerson: {
      what: 'Cannot connect to {subject}.',
      next: 'Check the network, the address and any proxy.',
    },
    forModel: 'The connection failed: {message}. The same act may succeed later.',
  },
  TIMEOUT: {
    forDeveloper: 'A timer fired, ours or theirs; 408, 504, 522 and 524 too.',
    forPerson: {
      what: '{Subject} did not answer in time.',
      next: 'If it goes on, ask for less at once or raise the time limit.',
    },
    forModel: '{Subject} did not finish in time. Ask for less at once, or try another way.',
  },
  CONTEXT_LENGTH_EXCEEDED: {
    forDeveloper: "The prompt, with the output asked for, is longer than the model's window.",
    forPerson: {
      what: 'The conversation has grown too long for {model}.',
      next: 'Shorten it, start a new one, or use a model with a larger window.',
    },
    forModel: 'The input is longer than the context window. Send less text.',
  },
  REQUEST_TOO_LARGE: {
    forDeveloper: 'Too many bytes, too large an image or file, or one request above a whole rate window.',
    forPerson: {
      what: 'The request is larger than {provider} accepts.',
      next: 'Send a smaller text, image or file; waiting will not help.',
    },
    forModel: 'The request is too large. Send a smaller text, image or file.',
  },
  CONTENT_FILTERED: {
    forDeveloper: "The input or the output was blocked by the provider's content rules.",
    forPerson: {
      what: 'The content filter of {provider} blocked this.',
      next: 'Put it in other words, or use another model.',
    },
    forModel: 'The content filter blocked this. Do not repeat it in the same words.',
  },
  INVALID_REQUEST: {
    forDeveloper:
      'A parameter, a schema, the order of messages or an unsupported feature. The request itself must change.',
    forPerson: {
      what: '{Provider} could not accept the request.',
      next: 'This is a mistake in the program or its settings; show the developer details to whoever maintains it.',
    },
    forModel: 'The request was not valid: {message}. Change it before trying again.',
  },
  INVALID_RESPONSE: {
    forDeveloper:
      'The answer could not be read: not the promised format, cut JSON, a page instead of data, or empty.',
    forPerson: {
      what: '{Provider} sent an answer that could not be read.',
      next: 'If it goes on, check that the base URL really is the API and not a web page or a proxy.',
    },
    forModel: 'The answer could not be read. The same request may succeed when tried again.',
  },
  EMPTY_RESPONSE: {
    forDeveloper: 'The model ended its turn properly, with neither text nor a tool call.',
    forPerson: {
      what: '{Provider} gave an empty answer.',
      next: 'If it happens again, ask in other words or choose another model.',
    },
    forModel: 'Your last answer was empty. Answer in words, or call a tool.',
  },
  OUTPUT_TRUNCATED: {
    forDeveloper: 'The answer was cut off at the limit of output tokens; what arrived is not the whole.',
    forPerson: {
      what: 'The answer of {Provider} was cut off because it grew too long.',
      next: 'Allow more output tokens, or ask for a shorter answer.',
    },
    forModel:
      'Your last answer was cut off because it was too long. Go on where it stopped, or say it in fewer words.',
  },
  STREAM_INTERRUPTED: {
    forDeveloper:
      'The answer had begun and was cut off without a stated reason. What arrived is not an answer.',
    forPerson: {
      what: 'The answer from {provider} was cut off.',
      next: 'If it goes on, check the network and any proxy in between.',
    },
    forModel: 'The answer was cut off before its end. What arrived is incomplete.',
  },
  TOOL_CALL_INVALID: {
    forDeveloper:
      'The model emitted a bad tool call (retryable), or calls and results in the history do not pair (not).',
    forPerson: {
      what: 'A tool was called in a way that {provider} could not accept.',
      next: 'If it happens again, start a new conversation; the history may be damaged.',
    },
    forModel: 'The tool call was not valid. Call a listed tool with arguments that fit its schema.',
  },
  TOOL_EXECUTION_ERROR: {
    forDeveloper: 'The tool ran and threw something that says no more about itself.',
    forPerson: {
      what: '{Tool} failed.',
      next: 'The developer details say why.',
    },
    forModel: '{Tool} failed: {message}. Correct the call, use another tool, or say what could not be done.',
  },
  TOOL_NOT_FOUND: {
    forDeveloper: 'The model called a tool that the agent does not have, or that is withdrawn for now.',
    forPerson: {
      what: 'The model asked for a tool that does not exist: {message}.',
      next: 'Check the tools of the agent; a better model makes this mistake less often.',
    },
    forModel: 'There is no such tool: {message}. Call one of the tools that exist, by its exact name.',
  },
  UNKNOWN_OUTCOME: {
    forDeveloper:
      'The call may have taken effect, and nobody saw how it ended. It is never repeated by itself.',
    forPerson: {
      what: 'Nobody knows whether {tool} did its work: {message}.',
      next: 'Look whether it happened, then resume the run with what you found.',
    },
    forModel:
      'It is not known whether {tool} did its work: it may have. Do not call it again before you have checked.',
  },
  VALIDATION_ERROR: {
    forDeveloper: 'Values did not fit their schema.',
    forPerson: {
      what: '{Subject} was given values that do not fit.',
      next: 'Say more precisely what you want, or show the developer details to whoever maintains it.',
    },
    forModel: 'The arguments for {subject} are not valid: {message}. Correct them and call it again.',
  },
  SERIALIZATION_ERROR: {
    forDeveloper: 'A value cannot be written as JSON: circular, BigInt, or not cloneable.',
    forPerson: {
      what: 'A value could not be saved or read back.',
      next: 'Show the developer details to whoever maintains the program.',
    },
    forModel: '{Subject} may have run, but a value could not be encoded. Do not assume that it did nothing.',
  },
  IO_ERROR: {
    forDeveloper: 'A file, a disk or a process could not be used: full, busy, too many open, read-only.',
    forPerson: {
      what: '{Subject} could not read or write.',
      next: 'Check free space and the rights of the file named in the details.',
    },
    forModel: 'Reading or writing failed: {message}. Choose another file or say what could not be done.',
  },
  PATH_OUTSIDE_WORKSPACE: {
    forDeveloper:
      'A tool was asked for a path that leads out of the workspace, or to a part of it that is protected. Nothing was opened.',
    forPerson: {
      what: '{Subject} was asked for a file that it may not touch.',
      next: 'Nothing was read or changed. If it should be allowed, open the workspace one folder higher, or change what is protected.',
    },
    forModel: '{message}. Use a path inside the workspace that is not protected.',
  },
  SANDBOX_SETUP_FAILED: {
    forDeveloper: 'The sandbox that the policy demands cannot be had on this machine, so no command was run.',
    forPerson: {
      what: 'Commands cannot be contained here as the policy demands, so none was run.',
      next: 'Run rerail doctor: it says which level this machine has, and why no more. Installing bubblewrap usually helps.',
    },
    forModel:
      'Commands cannot be run here: {message}. Go on without the shell, and say what could not be done.',
  },
  SANDBOX_EXECUTION_FAILED: {
    forDeveloper: 'A command could not be started in the sandbox. It was not run.',
    forPerson: {
      what: 'A command could not be started.',
      next: 'Look at the message in the details; rerail doctor tries the sandbox.',
    },
    forModel: 'The command was not run: {message}.',
  },
  NOT_FOUND: {
    forDeveloper: 'A file or another thing the tool was asked for does not exist.',
    forPerson: {
      what: '{Subject} did not find what it was asked for.',
      next: 'Check the name or the path.',
    },
    forModel: 'Not found: {message}. Look up the right name before trying again.',
  },
  OUTPUT_PARSE_ERROR: {
    forDeveloper: 'The answer does not have the shape that the output schema asks for, after the re-asks.',
    forPerson: {
      what: 'The model did not give its answer in the form that is needed: {message}.',
      next: 'Run it again, simplify the output schema, or choose another model.',
    },
    forModel:
      'Your answer does not have the required form: {message}. Answer again, with nothing but that form.',
  },
  COMPACTION_FAILED: {
    forDeveloper:
      'The conversation could not be shortened as asked: its summary failed, or its last exchange alone is too long. The run goes on with less of it; the record stays whole.',
    forPerson: {
      what: 'The conversation has grown too long, and the model sees less of it than it should: {message}.',
      next: 'The record of it is whole. Use a model with a larger window or start a new conversation; where the summary failed, check the model that writes it.',
    },
    forModel:
      'You see only a part of the conversation: {message}. Ask for what you miss, and answer briefly.',
  },
  ...flowTexts,
  ...durableTexts,
  INITIALIZATION_ERROR: {
    forDeveloper: 'The setup of the agent threw or took too long, so no step was taken.',
    forPerson: {
      what: 'Something that this work needs is not ready: {message}.',
      next: 'Mend that, then resume or run again: it is tried again. Nothing was sent to a model.',
    },
    forModel: 'What the work needs is not ready: {message}. Nothing in the request can change that.',
  },
  MAX_ITERATIONS_EXCEEDED: {
    forDeveloper: 'The run took as many turns as it may.',
    forPerson: {
      what: 'The work took more turns than allowed.',
      next: 'Read how far it came; raise limits.maxTurns or ask for less.',
    },
    forModel: 'No turns are left. Answer with what you have, and say what is missing.',
  },
  BUDGET_EXCEEDED: {
    forDeveloper: 'A limit that you set yourself on tokens, money, requests or tool calls is reached.',
    forPerson: {
      what: 'The work used up what it was allowed: {message}.',
      next: 'Read how far it came; raise that limit or ask for less.',
    },
    forModel: 'The budget is used up. Answer with what you have, and say what is missing.',
  },
  ENDLESS_LOOP: {
    forDeveloper: 'The model repeated the same calls with the same results, also after it was told.',
    forPerson: {
      what: 'The model went round in circles: {message}.',
      next: 'Make the tool say why a repeated call cannot help, or set its "repeats" if it should.',
    },
    forModel:
      'You repeat yourself without progress: {message}. Do something else, or answer with what you have.',
  },
  INVALID_STATE: {
    forDeveloper: 'Something arrived that has no meaning in the state the run is in; the state is unchanged.',
    forPerson: {
      what: 'That cannot be done now: {message}.',
      next: 'Look at the state of the run first.',
    },
    forModel: 'That cannot be done now: {message}.',
  },
  HOOK_FAILED: {
    forDeveloper: 'A hook threw, hung or answered with nonsense. A guardrail that fails means no.',
    forPerson: {
      what: 'A check or an extension of this program failed: {message}.',
      next: 'Mend or remove that hook, then resume.',
    },
    forModel: 'A check failed, so this is not allowed: {message}.',
  },
  HOOK_TERMINATED: {
    forDeveloper: 'A hook ended the run or the step on purpose.',
    forPerson: {
      what: 'A rule of this program stopped the work: {message}.',
      next: 'Ask for something that the rule allows.',
    },
    forModel: 'A rule does not allow this: {message}. Do not try to get around it.',
  },
  ...storageTexts,
  ALREADY_REGISTERED: {
    forDeveloper: 'Something of that name is registered, and nobody asked to replace it.',
    forPerson: {
      what: 'Two things were given the same name: {message}.',
      next: 'Rename one of them, or ask for the first to be replaced.',
    },
    forModel: 'That name is taken: {message}. Choose another one.',
  },
  NOT_REGISTERED: {
    forDeveloper: 'Nothing of that name is registered; the message lists the nearest names.',
    forPerson: {
      what: 'A name is not known: {message}.',
      next: 'Check the spelling, or register it first.',
    },
    forModel: 'That name is not known: {message}. Use one of the names that exist.',
  },
  CONFIG_ERROR: {
    forDeveloper: 'A setting, an option or an argument is wrong. Nothing was started.',
    forPerson: {
      what: 'A setting is wrong: {message}.',
      next: 'Correct it and run again; nothing was started.',
    },
    forModel: 'A setting is wrong: {message}.',
  },
  CANCELLED: {
    forDeveloper: 'The caller gave it up. It is a wish, not a fault: never retried, never a success.',
    forPerson: {
      what: 'This was cancelled.',
      next: 'Nothing more is done.',
    },
    forModel: 'This was cancelled by the caller. Do not start it again by yourself.',
  },
  INTERNAL: {
    forDeveloper: 'A defect: an assertion or a programming error. Never retried, never explained away.',
    forPerson: {
      what: 'The program has a defect and stopped.',
      next: 'Show the developer details to whoever maintains it.',
    },
    forModel: 'The program has a defect. Do not try again.',
  },
  UNKNOWN: {
    forDeveloper: 'Nothing to decide on. Not retried, because nothing says that it would help.',
    forPerson: {
      what: 'Something went wrong that could not be identified.',
      next: 'The developer details hold all that is known.',
    },
    forModel: 'Something went wrong that could not be identified. Do not repeat the same act blindly.',
  },
};
