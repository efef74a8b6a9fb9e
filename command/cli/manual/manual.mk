# Manual pages and completions: templates, in which the options are filled in that the command itself tells. Included by the Makefile.
MANUAL := $(addprefix $(BUILD)/share/,man/man1/blame.1 man/man7/libblame.7 bash-completion/completions/blame zsh/site-functions/_blame \
    fish/vendor_completions.d/blame.fish)
# The command that is asked: one that runs on this machine.
MANUAL_BLAME ?= $(BLAME)

$(BUILD)/share/man/man1/blame.1: MANUAL_FORM := commands
$(BUILD)/share/man/man1/blame.1: command/cli/manual/blame.1.in
$(BUILD)/share/man/man7/libblame.7: MANUAL_FORM := variables
$(BUILD)/share/man/man7/libblame.7: command/cli/manual/libblame.7.in
$(BUILD)/share/bash-completion/completions/blame: MANUAL_FORM := bash
$(BUILD)/share/bash-completion/completions/blame: command/cli/manual/completion.bash.in
$(BUILD)/share/zsh/site-functions/_blame: MANUAL_FORM := zsh
$(BUILD)/share/zsh/site-functions/_blame: command/cli/manual/completion.zsh.in
$(BUILD)/share/fish/vendor_completions.d/blame.fish: MANUAL_FORM := fish
$(BUILD)/share/fish/vendor_completions.d/blame.fish: command/cli/manual/completion.fish.in

$(MANUAL): command/cli/manual/manual.awk $(BUILD)/command/cli/manual/described
	@mkdir -p $(@D)
	@awk -v form=$(MANUAL_FORM) -v version=$(VERSION) -f command/cli/manual/manual.awk $(BUILD)/command/cli/manual/described $(filter %.in,$^) >$@.part
	@mv $@.part $@

$(BUILD)/command/cli/manual/described: $(MANUAL_BLAME)
	@mkdir -p $(@D)
	@$(MANUAL_BLAME) --describe >$@.part
	@mv $@.part $@
