// Die Wörter der Antwortseite auf Deutsch.
/** @import { Texts } from "./en.js" */

/** @param {number} number */
const count = (number) => Math.round(number).toLocaleString("de-DE");

/** @param {number} share */
const percent = (share) => `${(100 * share).toLocaleString("de-DE", { maximumSignificantDigits: 3 })} %`;

/**
 * Write a number that was written in English.
 *
 * @param {string} text
 */
const comma = (text) => text.replace(/[.,]/g, (sign) => (sign === "." ? "," : "."));

/** @type {Texts} */
export const de = {
  language: "de",
  percent,
  protected:
    "Ihre Antwort bleibt auf diesem Gerät. Gesendet wird eine zufällig veränderte Fassung, die Sie vorher sehen.",
  exposing:
    "Gesendet wird ein Bericht, der zufällig aus Ihrer Antwort gezogen wird. Er kann Ihre Antwort nennen. Sie sehen ihn vorher.",
  relayed: "Ihr Bericht geht über einen Vermittler: Der Server, der ihn liest, sieht nicht, von wem er kommt.",
  newKeys:
    "Der Server hat seine Schlüssel im Laufe des letzten Tages gewechselt. Das ist selten. Zusammen mit dem Vermittler könnte ein Server Sie so wiedererkennen.",
  answer: "Ihre Antwort",
  questions: (questions) => `Eine Umfrage mit ${questions} Fragen`,
  protectedSeveral:
    "Ihre Antworten bleiben auf diesem Gerät. Der Zufall wählt, von welchen Fragen Ihr Bericht handelt. Gesendet wird eine zufällig veränderte Fassung Ihrer Antworten darauf, die Sie vorher sehen.",
  answers: "Ihre Antworten",
  noAnswer: "Keine Angabe",
  optional: "(freiwillig)",
  lacking: "Diese Frage braucht eine Antwort.",
  begin: "Beginnen",
  asksLess: (questions) =>
    `Es gibt ${questions} Fragen. Gestellt werden Ihnen nur einige davon; der Zufall wählt, welche.`,
  asksLessWhy:
    "Bitte antworten Sie, egal welche Fragen kommen. Wenn manche wegen ihrer Fragen aufhören, wird das Ergebnis falsch.",
  oneReport: "Es gibt einen Bericht für alle Fragen. Unten sehen Sie, von welchen er handelt und was er verrät.",
  about: (questions) =>
    questions === 1 ? "Die Frage, von der er handelt" : `Die ${questions} Fragen, von denen er handelt`,
  chanceChose: "Das hat der Zufall gewählt, nicht Ihre Antworten.",
  notAbout: (questions) => (questions === 1 ? "Über die andere sagt er nichts:" : "Über die anderen sagt er nichts:"),
  notKeptSeveral: "Sie werden nicht gesendet und nicht aufbewahrt.",
  seeReport: "Meinen Bericht ansehen",
  search: "In den Antworten suchen",
  found: (matches, all) => `${count(matches)} von ${count(all)} Antworten.`,
  firstShown: (most) => ` Sie sehen die ersten ${most}; suchen Sie nach den anderen.`,
  number: (last) => `Eine ganze Zahl von 0 bis ${count(last)}`,
  range: (low, high, unit) => `Eine Zahl von ${low} bis ${high}${unit ? ` ${unit}` : ""}`,
  outside: "Eine Zahl außerhalb dieses Bereichs zählt als der nächste Randwert.",
  countsAs: (cell) => `Zählt als ${cell.replace(" to ", " bis ")}.`,
  textRule:
    "Ein beliebiger Text. Er zählt, wie Sie ihn schreiben: Groß- und Kleinschreibung und Akzente machen einen Unterschied, Leerzeichen am Anfang und am Ende nicht.",
  textMissing: "Schreiben Sie etwas.",
  textLong: (size, most) => `Der Text ist zu lang: Er hat ${size} Bytes, erlaubt sind ${most}.`,
  scroll: "Scrollen Sie, bis dieses Feld ganz zu sehen ist. Dann können Sie hineinschreiben.",
  consentTitle: "Nicht jede Antwort ist geschützt",
  consentReason: "Ein Bericht kann nur eine einzige Antwort möglich lassen.",
  consent: "Ich nehme in Kauf, dass mein Bericht meine Antwort mit Sicherheit nennen kann.",
  details: "Einzelheiten",
  version: "Version der Umfrage, hier berechnet: ",
  askTitle: "Bevor Sie antworten",
  notice: (text) =>
    text
      .replace(/^it has (\d+) labels, fewer than (\d+)$/, "sie hat nur $1 Antworten, weniger als $2")
      .replace(
        /^its labels have changed since ([\d-]+): (.+) then, (.+) now$/,
        "ihre Antworten haben sich seit dem $1 geändert: $2 damals, $3 jetzt",
      )
      .replaceAll("any text", "beliebiger Text"),
  goOn: "Weiter",
  doNotAnswer: "Nicht antworten",
  headings: {
    drawn: "Das würde gesendet",
    queued: "Noch nicht gesendet",
    sent: "Danke, das wurde gesendet",
    withdrawing: "Noch nicht zurückgenommen",
    withdrawn: "Ihr Bericht wurde zurückgenommen",
  },
  report: "Ihr Bericht",
  reportBytes: "Der Bericht, Byte für Byte",
  bytes: (bits) =>
    "Diese Bytes werden gesendet, dazu eine Zufallszahl, damit sie nicht doppelt gezählt werden. " +
    `Nur ${bits} Bits davon wurden aus Ihrer Antwort gezogen; die anderen nennen die Umfrage oder sind Prüfsummen.`,
  ticket: "Der Schlüssel aus Ihrem Link wird mitgesendet und nicht daneben aufbewahrt.",
  linked:
    "Ein Teil davon wird aus diesem Schlüssel berechnet: Wer die Links aufbewahrt hat, kann erkennen, welcher Bericht Ihrer ist. " +
    "Wie wenig er über Ihre Antwort sagt, steht unten.",
  pass: "Mitgesendet wird ein Ausweis, gegen den der Schlüssel aus Ihrem Link getauscht wurde. Niemand kann erkennen, welcher Schlüssel es war.",
  unlinked:
    "Ein Teil davon wird aus diesem Ausweis berechnet: Sie konnten ihn nicht wählen, und niemand kann daran erkennen, welcher Bericht Ihrer ist.",
  named: "Der Bericht oben nennt sie.",
  notKept: "Sie wird nicht gesendet und nicht aufbewahrt.",
  notKeptDaily:
    "Sie wird nicht gesendet und nicht aufbewahrt. Was hier aufbewahrt wird, wurde einmal zufällig aus ihr gezogen; daraus werden die Berichte aller Tage gezogen.",
  notKeptFollowing:
    "Sie wird nicht gesendet und nicht aufbewahrt. Was hier aufbewahrt wird, wurde zufällig gezogen, bevor Sie geantwortet haben; jeder Bericht wird daraus und aus der Antwort des Tages gezogen.",
  following:
    "Sie können an einem anderen Tag noch einmal antworten, auch anders. Berichte verschiedener Tage verraten Ihre Antwort nicht; dass sie sich geändert hat, kann man sehen.",
  learned: "Was man daraus erfahren kann",
  drawn: "Er wurde einmal zufällig aus Ihrer Antwort gezogen: Zurückgehen würde ihn nicht ändern.",
  drawnSeveral: "Er wurde einmal zufällig aus Ihren Antworten gezogen: Zurückgehen würde ihn nicht ändern.",
  repeated:
    "Dieser Bericht wurde schon früher gezogen, bei einem anderen Besuch oder in einem anderen Fenster. Es gibt nur diesen einen.",
  renewed:
    "Das ist der Bericht von heute. Er wurde aus dem gezogen, was dieses Gerät von Ihrer ersten Antwort aufbewahrt; nach ihr wird nicht noch einmal gefragt.",
  takeBack: "Meine Antwort zurücknehmen",
  takeBackAgain: "Jetzt noch einmal versuchen",
  takeBackTitle: "Ihre Antwort zurücknehmen?",
  takeBackNotices: [
    "Ihr Bericht wird aus der Zählung genommen. Sie können an dieser Umfrage nicht noch einmal teilnehmen.",
    "Der Bericht wurde gesehen. Was er verraten hat, bleibt verraten.",
  ],
  keepIt: "Dabei lassen",
  withdrawing: "Der Server ist nicht zu erreichen. Ihr Bericht wird zurückgenommen, sobald es geht.",
  withdrawn: "Ihr Bericht wurde aus der Zählung genommen. Früher veröffentlichte Ergebnisse können ihn noch enthalten.",
  done: "Sie haben an dieser Umfrage teilgenommen. Ein weiterer Besuch sendet nichts mehr.",
  doneToday:
    "Sie haben heute an dieser Umfrage teilgenommen. An einem anderen Tag können Sie einen weiteren Bericht derselben Antwort senden.",
  doneForNow: "Für dieses Mal haben Sie an der Umfrage teilgenommen.",
  drawnForNow:
    "Dieser Bericht wurde schon früher gezogen, bei einem anderen Besuch oder in einem anderen Fenster. Es gibt jedes Mal, wenn Sie gefragt werden, nur einen.",
  periods: {
    weekly: {
      anew: "Sie können einmal in der Woche antworten. Jede Antwort wird neu gezogen und kommt zu dem hinzu, was die früheren preisgegeben haben.",
      done: "Sie haben in dieser Woche an der Umfrage teilgenommen. Ab Montag können Sie wieder antworten, soweit Ihre Grenzen reichen.",
      repeated:
        "Dieser Bericht wurde schon früher gezogen, bei einem anderen Besuch oder in einem anderen Fenster. Für diese Woche gibt es nur diesen einen.",
      renewed:
        "Das ist der Bericht dieser Woche. Er wurde aus dem gezogen, was dieses Gerät von Ihrer ersten Antwort aufbewahrt; nach ihr wird nicht noch einmal gefragt.",
      doneKept:
        "Sie haben in dieser Woche an der Umfrage teilgenommen. Ab Montag können Sie einen weiteren Bericht derselben Antwort senden.",
    },
    monthly: {
      anew: "Sie können einmal im Monat antworten. Jede Antwort wird neu gezogen und kommt zu dem hinzu, was die früheren preisgegeben haben.",
      done: "Sie haben in diesem Monat an der Umfrage teilgenommen. Ab dem nächsten Ersten können Sie wieder antworten, soweit Ihre Grenzen reichen.",
      repeated:
        "Dieser Bericht wurde schon früher gezogen, bei einem anderen Besuch oder in einem anderen Fenster. Für diesen Monat gibt es nur diesen einen.",
      renewed:
        "Das ist der Bericht dieses Monats. Er wurde aus dem gezogen, was dieses Gerät von Ihrer ersten Antwort aufbewahrt; nach ihr wird nicht noch einmal gefragt.",
      doneKept:
        "Sie haben in diesem Monat an der Umfrage teilgenommen. Ab dem nächsten Ersten können Sie einen weiteren Bericht derselben Antwort senden.",
    },
  },
  queued: "Der Server ist nicht zu erreichen. Ihr Bericht bleibt hier und wird gesendet, sobald es geht.",
  send: "Diesen Bericht senden",
  sendAgain: "Jetzt noch einmal versuchen",
  doNotSend: "Nicht senden",
  nothingSent: "Es wurde nichts gesendet",
  comeBack: "Sie können diese Seite schließen. Wenn Sie wiederkommen, sehen Sie denselben Bericht.",
  guess: (before) =>
    `Wer sonst nichts weiß und Ihre Antwort rät, liegt ohne diesen Bericht mit Wahrscheinlichkeit ${percent(before)} richtig, mit ihm höchstens mit `,
  guessText: (before, size) =>
    `Wer weiß, dass Ihre Antwort einer von ${count(size)} gleich wahrscheinlichen Texten ist, und sie rät, liegt ohne diesen Bericht mit Wahrscheinlichkeit ${percent(before)} richtig, mit ihm höchstens mit `,
  guessSeveral: (before) =>
    `Wer sonst nichts weiß und Ihre Antworten auf diese Fragen rät, liegt ohne diesen Bericht mit Wahrscheinlichkeit ${percent(before)} richtig, mit ihm höchstens mit `,
  noText: "Er schließt keinen Text aus: Jeder Text hätte zu diesem Bericht führen können.",
  noneOut: (size) => `Er schließt keine Antwort aus: Jede der ${count(size)} hätte zu diesem Bericht führen können.`,
  onlyYours: (out, size) =>
    `Sicher ist: Er nennt Ihre Antwort. Er schließt alle anderen aus, ${count(out)} von ${count(size)}.`,
  someOut: (out, size, left) =>
    `Sicher ist: Er schließt ${count(out)} der ${count(size)} Antworten aus und lässt ${count(left)} möglich. Ihre ist eine davon.`,
  noneOutSeveral: (size) =>
    `Er schließt keine Ihrer Antworten aus: Jede der ${count(size)} Arten, diese Fragen zu beantworten, hätte zu diesem Bericht führen können.`,
  someOutSeveral: (out, size, left) =>
    `Sicher ist: Er schließt ${count(out)} der ${count(size)} Arten aus, diese Fragen zu beantworten, und lässt ${count(left)} möglich. Ihre ist eine davon.`,
  possible: "möglich",
  ruledOut: "ausgeschlossen",
  allAnswers: "Alle Antworten",
  map: (size, left) =>
    `Ein Feld für jede der ${count(size)} Antworten in ihrer Reihenfolge: ${count(left)} sind möglich, die anderen ausgeschlossen.`,
  scheduled: (time) => `Diese Umfrage hat noch nicht begonnen. Sie beginnt am ${time}.`,
  closed: "Diese Umfrage ist beendet. Sie nimmt keine Antworten mehr an.",
  programs: "Diese Umfrage wird von Programmen beantwortet, nicht auf dieser Seite.",
  relayOnly:
    "Diese Umfrage wird nur über einen Vermittler beantwortet, damit der Server nicht sieht, wer antwortet. Öffnen Sie den Link zum Vermittler.",
  personal: "Für diese Umfrage brauchen Sie einen persönlichen Link. Öffnen Sie den, der Ihnen geschickt wurde.",
  tooMuch: "Diese Umfrage verlangt mehr, als Ihr Gerät preisgibt. Deshalb kann sie hier nicht beantwortet werden.",
  notAnswered: "Nicht beantwortet",
  notFound: "Umfrage nicht gefunden",
  wrong: "Etwas ist schiefgegangen",
  ownTab: "Öffnen Sie diese Umfrage in einem eigenen Tab",
  noStorage:
    "Ihr Browser erlaubt dieser Umfrage nicht, innerhalb einer anderen Seite etwas zu speichern. Es wurde nichts gesendet.",
  toOwnTab: "In einem eigenen Tab antworten",
  toProtect: "Diese Umfrage wurde nicht beantwortet, um Sie zu schützen.",
  missing: "Diese Umfrage gibt es hier nicht. Die Adresse kann falsch sein, oder die Umfrage wurde gelöscht.",
  failed: "Das hat nicht geklappt. Es wurde nichts gesendet.",
  parties: {
    title: "Wer was sieht",
    columns: ["Wer", "Ihre Adresse, die Zeit", "Welche Umfrage", "Ihr Bericht"],
    relayed: {
      rows: [
        ["Ihr Netz", "dass Sie einen Vermittler nutzen, und wann", "nein", "nein"],
        ["Der Vermittler", "ja", "nein", "nein"],
        ["Der Server", "die Adresse des Vermittlers, wann der Bericht ankommt", "ja", "ja"],
        ["Vermittler und Server zusammen", "ja", "ja", "ja"],
      ],
      notes: [
        "Auch diese Seite kam vom Vermittler. Wenn die Betreiber von Vermittler und Server zusammenarbeiten, wissen sie all das.",
        "Von ihm kam auch der öffentliche Schlüssel des Servers. Ein Vermittler, der einen anderen ausgibt, könnte Berichte lesen; jeder kann beide vergleichen.",
        "Der Vermittler verbirgt Sie unter denen, die etwa zur selben Zeit senden. Wer in einer Stunde als Einziger sendet, den verrät die Zeit.",
        "Was der Bericht über Ihre Antwort sagt, ist für alle gleich, die ihn lesen.",
      ],
    },
    passes: {
      issuer: ["Wer Ausweise ausgibt", "ja, und Ihren Schlüssel", "ja", "nein"],
      blind:
        "Ihr Schlüssel wurde gegen einen Ausweis getauscht, den sein Aussteller unterschrieb, ohne ihn zu sehen. Kommt der Bericht mit dem Ausweis, kann niemand erkennen, welcher Schlüssel es war.",
      apart:
        "Die Zeit kann es dennoch verraten: Wer antwortet, kurz nachdem ein Schlüssel getauscht wurde, könnte dessen Inhaber sein, wenn Aussteller und Server vergleichen.",
      relayed:
        "Die Zeit kann es dennoch verraten: Wer antwortet, kurz nachdem ein Schlüssel getauscht wurde, könnte dessen Inhaber sein.",
      direct:
        "Ihre Adresse und die Zeit können es dennoch verraten: Der Server sieht, wer einen Schlüssel tauscht und wer kurz danach einen Bericht sendet.",
    },
    direct: {
      rows: [
        ["Ihr Netz", "dass Sie diesen Server besuchen, und wann", "nein", "nein"],
        ["Der Server", "ja; er verspricht, sie nicht zu behalten", "ja", "ja"],
      ],
      notes: [
        "Diese Seite kam vom Server, der dabei auch Ihre Adresse sah.",
        "Was der Bericht über Ihre Antwort sagt, ist für alle gleich, die ihn lesen.",
      ],
    },
  },
  card: {
    title: "Was ein Bericht preisgibt",
    certain: "Mit Sicherheit",
    differs: "Nicht für alle Antworten gleich",
    inNumbers: "In Zahlen",
    several: "Mehrere Fragen, ein Bericht",
    severalOne: (questions, epsilon, most) =>
      `Ein Bericht für alle ${questions} Fragen zusammen, epsilon ${comma(epsilon)}. Er zeigt, von welchen er handelt, ` +
      `${most === 1 ? "von einer" : `von höchstens ${most}`}: Der Zufall hat sie gewählt, nicht Ihre Antworten. Über die anderen sagt er nichts.`,
    severalChance: (least, most) =>
      `Von einer bestimmten Frage handelt er mit einer Wahrscheinlichkeit von ${least} bis ${most} %; wenn, dann schützt er die Antwort durch dasselbe epsilon, nicht durch ein kleineres.`,
    severalAgain:
      "Eine weitere Antwort handelte von anderen Fragen und kostete noch ein epsilon: k neue Antworten sind zusammen k mal epsilon, und einige Dutzend fragen nach allem. Deshalb antwortet Ihr Gerät einmal.",
    severalRest: (size) =>
      `Der Rest handelt von den ${count(size)} Antworten, die ein einzelner Bericht höchstens unterscheidet.`,
    onlyYours: "nur Ihre möglich",
    left: (left) => `${comma(left)} möglich`,
    leftAtLeast: (left) => `mindestens ${comma(left)} möglich`,
    leftInMean: (mean, least) =>
      `im Mittel ${comma(mean)} möglich und ${least > 1 ? `mindestens ${count(least)}` : "manchmal nur Ihre"}`,
    nothingBoth: "Nichts. Beide Antworten hätten Ihren Bericht ergeben können.",
    nothing: (size) => `Nichts. Jede der ${count(size)} Antworten hätte Ihren Bericht ergeben können.`,
    nothingText: "Nichts. Jeder Text hätte Ihren Bericht ergeben können.",
    someNot: "Dass einige Antworten nicht Ihre sind, wie klein epsilon auch ist.",
    group:
      "In welcher Gruppe Ihre Antwort ist. Das ist schwach: Antworten in verschiedenen Gruppen sind gar nicht voreinander geschützt.",
    leaves: (size, left) => `Von ${count(size)} Antworten lässt er ${left}.`,
    etaOne: "Je zwei Antworten können dieselben Berichte ergeben. Das ist gewöhnliche lokale Differential Privacy.",
    etaZero:
      "Einige Antworten haben keinen Bericht gemeinsam. Das ist schwach, viel schwächer als lokale Differential Privacy.",
    etaSome: (share, isAtLeast) =>
      `Je zwei Antworten haben ${isAtLeast ? "mindestens " : ""}${comma(share)} ihrer Berichte gemeinsam; die anderen unterscheiden sie mit Sicherheit. ` +
      "1 wäre gewöhnliche lokale Differential Privacy; das hier ist schwächer.",
    promiseLasting: (one, all) =>
      `${comma(one)}-LDP für einen Bericht, ${comma(all)}-LDP für alle, die aus einer Antwort gemacht werden, wie viele es auch sind`,
    promiseFollowing: (one, steady, all, visible) =>
      `${comma(one)}-LDP für einen Bericht, ${comma(steady)}-LDP für alle Berichte einer Antwort, die bleibt, Epsilon ${comma(all)} für Antworten, die sich nach einem Muster ändern. ` +
      `Dass eine Antwort sich ändert, deckt kein Epsilon; es ist mit einer Wahrscheinlichkeit von ${comma(visible)} zu sehen`,
    promiseGroups: (epsilon, groups) =>
      `${comma(epsilon)}-LDP innerhalb von ${groups} Gruppen, nichts dazwischen (schwach)`,
    promiseSensitive: (epsilon, values) =>
      `${comma(epsilon)}-ULDP mit ${count(values)} ${values > 1 ? "heiklen Werten" : "heiklen Wert"}`,
    promiseBudgets: (epsilon, budgets) =>
      `${comma(epsilon)}-ID-LDP mit ${count(budgets)} ${budgets > 1 ? "kleineren Budgets" : "kleineren Budget"}`,
    promiseDistance: (alpha, distance) =>
      `${comma(alpha)}-CLDP auf ${distance === "ring" ? "einem Ring" : "einer Linie"}`,
    promised: (promise) => `Versprochen: ${promise}.`,
    epsilon: (epsilon, ratio, isCertain) =>
      `epsilon ${comma(epsilon)}. ${isCertain ? "Unter den Antworten, die er nicht ausschließt, ist ein" : "Ein"} ` +
      `Bericht ${isCertain ? "" : "ist "}bei einer Antwort höchstens ${comma(ratio)}-mal so wahrscheinlich wie bei einer anderen.`,
    sensitive: (sensitive, size, named) =>
      `Nur ${count(sensitive)} der ${count(size)} Antworten ${sensitive === 1 ? "ist" : "sind"} heikel. ` +
      `Jede andere Antwort wird von ${comma(named)} % ihrer Berichte mit Sicherheit genannt.`,
    budgets: (budgets, size, least, epsilon) =>
      `Die Antworten sind nicht gleich geschützt: ${count(budgets)} von ${count(size)} durch ein eigenes Budget ` +
      `ab ${comma(least)}, je zwei andere durch epsilon ${comma(epsilon)}.`,
    distance: (near, far) =>
      `Weit entfernte Antworten sind weniger geschützt als benachbarte: Nachbarn durch epsilon ${comma(near)}, ` +
      `die entferntesten durch epsilon ${comma(far)}. Wo Ihre Antwort ungefähr liegt, lässt sich erraten.`,
    others: (number) => ` und ${count(number)} ${number > 1 ? "andere" : "andere Antwort"}`,
    concernedSensitive: (names) =>
      `Geschützt: ${names}. ` +
      "Ist Ihre eine davon, so sagt das kein Bericht mit Sicherheit. Jede andere Antwort kann von ihrem Bericht genannt werden.",
    concernedBudgets: (names) => `Mehr als die anderen geschützt: ${names}.`,
    concernedDistance: (distance) =>
      `Die Antworten stehen in ${distance === "ring" ? "einem Ring" : "einer Reihe"}, in der Reihenfolge der Liste${distance === "ring" ? ": die erste neben der letzten" : ""}. ` +
      "Je näher zwei von ihnen einander sind, desto schwerer sind sie zu unterscheiden.",
  },
};
